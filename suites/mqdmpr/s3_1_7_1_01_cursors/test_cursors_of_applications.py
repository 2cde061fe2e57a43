"""MS-MQDMPR 3.1.7.1.1 Open Cursor, 3.1.7.1.2 Close Cursor: several cursors that applications open for queues, subqueues
and journals.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import distinct_values, each
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("receive", "queue_control")


@needs("subqueues")
@covers("MQDMPR-3.1.7.1.1-10")
def test_each_handle_gets_cursors_that_read(peer, sut, judge):
    """Three cursors of a queue, one of a subqueue, and one of a journal are opened, through handles with ReceiveAccess
    and with PeekAccess. All cursors are different, and each reads the first message of its queue. An exclusive handle,
    and the handle of an empty queue, also get a cursor.
    """
    application = Application(peer, sut)
    queue, subqueue, journal = application.queue, f"{application.queue};mqc-sub", f"{application.queue};journal"
    application.call("set_queue", name=queue, journaling=True)
    frames = application.fill_queue("journaled", "moved", "first", "second")
    sut.create_queue(subqueue)
    application.receive()
    application.call("move", queue=queue, lookup_id=application.get_lookup_ids_by_label()["moved"], to=subqueue)
    for access in ("receive", "peek"):
        cursors: dict[int, str] = {}
        numbers: list[int] = []
        for name, first, count in ((queue, "first", 3), (subqueue, "moved", 1), (journal, "journaled", 1)):
            handle = application.call("open_queue", queue=name, access=access)["handle"]
            for _ in range(count):
                if sut.attempt("open_cursor", handle=handle) == Outcome.REFUSED:
                    judge(
                        "MQDMPR-3.1.7.1.1-10",
                        expected=Outcome.DONE,
                        observed=Outcome.REFUSED,
                        case=f"request for a cursor of {name} by a handle for {access}",
                        evidence=frames,
                    )
                    continue
                cursor = application.call("open_cursor", handle=handle)["cursor"]
                numbers.append(cursor)
                cursors[cursor] = first
        observed = []
        for number in numbers:
            opened = sut.attempt("peek_message", cursor=number, timeout_ms=0) == Outcome.DONE
            observed.append(sut.read_label("peek_message", cursor=number) if opened else Outcome.REFUSED)
        judge(
            "MQDMPR-3.1.7.1.1-10", expected=distinct_values("cursors", len(numbers)), observed=numbers, evidence=frames
        )
        judge(
            "MQDMPR-3.1.7.1.1-10",
            expected=[cursors[number] for number in numbers],
            observed=observed,
            case=f"labels returned by the cursors of handles for {access}",
            evidence=frames,
        )
    application.call("purge", queue=journal)
    empty = sut.new_queue("empty")
    exclusive = sut.new_queue("exclusive")
    sut.send_here(exclusive, ["alone"])
    opened = {}
    for name, access, alone in (
        (empty, "receive", False),
        (empty, "peek", False),
        (exclusive, "receive", True),
        (exclusive, "peek", True),
    ):
        handle = application.call("open_queue", queue=name, access=access, deny_receive=alone)["handle"]
        case = f"handle for {access}, {'exclusive' if alone else 'of an empty queue'}"
        opened[case] = sut.attempt("open_cursor", handle=handle)
        application.call("close_queue", handle=handle)
    judge(
        "MQDMPR-3.1.7.1.1-10",
        expected=each(Outcome.DONE, "request for a cursor"),
        observed=opened,
        evidence=frames,
    )


@covers("MQDMPR-3.1.7.1.1-04")
def test_handle_of_deleted_queue_gets_no_cursor_of_namesake(peer, sut, judge):
    """An application has a queue open, once to receive and once to peek. The queue is deleted, and a new queue is
    created with the same name. The old handles get no cursor.
    """
    application = Application(peer, sut)
    frames = application.fill_queue("old")
    handles = [
        application.call("open_queue", queue=application.queue, access=one)["handle"] for one in ("receive", "peek")
    ]
    sut.delete_queue(application.queue)
    sut.create_queue(application.queue)
    frames += application.fill_queue("new")
    observed = [sut.attempt("open_cursor", handle=handle) for handle in handles]
    judge(
        "MQDMPR-3.1.7.1.1-04",
        expected=each(Outcome.REFUSED, "request for a cursor"),
        observed=observed,
        evidence=frames,
    )


@covers("MQDMPR-3.1.7.1.2-06")
def test_only_closed_cursor_is_removed(peer, sut, judge):
    """Of three cursors of a handle, the one that has read a message is closed. No request can use it afterwards, and
    the other cursors still read from their positions.
    """
    application = Application(peer, sut)
    frames = application.fill_queue("first", "second")
    handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]
    before, closed, after = (application.call("open_cursor", handle=handle)["cursor"] for _ in range(3))
    for cursor in (closed, after):
        sut.read_label("peek_message", cursor=cursor)
    if sut.attempt("close_cursor", cursor=closed) == Outcome.REFUSED:
        raise ConformanceFailure("the SUT refused to close a cursor")
    requests = {
        "peek": sut.attempt("peek_message", cursor=closed, timeout_ms=0),
        "peek of the next message": sut.attempt("peek_next", cursor=closed, timeout_ms=0),
        "receive": sut.attempt("receive", cursor=closed, timeout_ms=0),
        "close": sut.attempt("close_cursor", cursor=closed),
    }
    judge(
        "MQDMPR-3.1.7.1.2-06",
        expected=each(Outcome.REFUSED, "request with the closed cursor"),
        observed=requests,
        evidence=frames,
    )
    others = {"current": sut.attempt("peek_message", cursor=before), "next": sut.attempt("peek_next", cursor=after)}
    judge(
        "MQDMPR-3.1.7.1.2-06",
        expected=each(Outcome.DONE, "request with another cursor"),
        observed=others,
        evidence=frames,
    )
