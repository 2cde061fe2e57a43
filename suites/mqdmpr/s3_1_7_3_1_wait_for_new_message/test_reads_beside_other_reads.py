"""MS-MQDMPR 3.1.7.3.1 Wait For New Message: reads while messages are locked or other reads are pending, the start of
each timer, and reads that are ended by a cancellation or by the end of their handle.
"""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Action
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 2_000, 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.1-07")
def test_reads_with_timeout_0_end_at_once(remote, judge):
    """Receives and peeks with timeout 0, with and without a cursor, end without a message: at an empty queue, behind a
    message that another reader has locked, and while another read of the same handle is pending.
    """
    queue, other = remote.open(), remote.open()
    reads: dict[str, list[Call]] = {}

    def read_with_timeout_0(case: str) -> None:
        reads[case] = [
            queue.begin(action, ulTimeout=0, **by)
            for action in (Action.RECEIVE, Action.PEEK_CURRENT)
            for by in ({}, {"hCursor": queue.open_cursor()})
        ]
        for read in reads[case]:
            read.wait()

    read_with_timeout_0("empty queue")
    remote.deliver(["a"])
    lock = other.start_receive().expect_success()
    read_with_timeout_0("locked message")
    pending = queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
    pending.state_after_silence()
    read_with_timeout_0("pending read")
    outcomes = {case: [one.label_or_failure for one in found] for case, found in reads.items()}
    judge(
        "MQDMPR-3.1.7.3.1-07",
        expected={case: each(Call.FAILURE_HRESULT_TEXT) for case in reads},
        observed=outcomes,
        evidence=[lock, *(one for found in reads.values() for one in found)],
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.1-15")
@pytest.mark.parametrize("handle", ["same handle", "other handle"])
def test_timer_of_each_pending_read_starts_with_its_own_wait(remote, judge, handle):
    """Two reads wait with the same timeout; the second begins to wait when half of the timeout of the first has passed.
    The first ends when its own timeout has passed, and the second not before its own timeout has passed.
    """
    queue = remote.open()
    other = queue if handle == "same handle" else remote.open()
    slack_ms = remote.sut.slack_ms(READ_TIMEOUT_MS)
    virtual = remote.peer.environment.is_time_virtual
    first_ms = remote.peer.recorder.elapsed_ms()
    first = queue.begin(Action.PEEK_CURRENT, ulTimeout=READ_TIMEOUT_MS)
    remote.peer.pass_time(READ_TIMEOUT_MS // 2)
    second_ms = remote.peer.recorder.elapsed_ms()
    second = other.begin(Action.RECEIVE, ulTimeout=READ_TIMEOUT_MS)
    within_ms = READ_TIMEOUT_MS + slack_ms + remote.sut.response_timeout_ms
    first.wait(within_ms)
    first_lasted = remote.peer.measure_duration(first_ms)
    second.wait(within_ms)
    second_lasted = remote.peer.measure_duration(second_ms)
    longest_ms = READ_TIMEOUT_MS + slack_ms + (0 if virtual else remote.sut.response_timeout_ms)
    observed = {
        "first": READ_TIMEOUT_MS <= first_lasted.ms <= longest_ms or f"after {first_lasted.ms} ms",
        "second": READ_TIMEOUT_MS <= second_lasted.ms <= longest_ms or f"after {second_lasted.ms} ms",
    }
    judge(
        "MQDMPR-3.1.7.3.1-15",
        expected=each(holds("after its timeout"), "read"),
        observed=observed,
        evidence=[first, second],
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.1-19")
def test_cancellations_and_closed_handles_end_pending_reads(remote, judge):
    """Through each of two handles, receives with and without a cursor wait; through the second handle, peeks wait too.
    The receives of the first handle are cancelled one after the other, and the second handle is closed: each read ends
    without a message.
    """
    cancelling, closing = remote.open(), remote.open()
    numbers: list[int] = []
    cancelled: list[Call] = []
    closed: list[Call] = []
    for queue, actions, reads in (
        (cancelling, (Action.RECEIVE,), cancelled),
        (closing, (Action.PEEK_CURRENT, Action.RECEIVE), closed),
    ):
        for action in actions:
            for by in ({"hCursor": queue.open_cursor()}, {}):
                numbers.append(remote.request_id())
                reads.append(queue.begin(action, dwRequestID=numbers[-1], ulTimeout=LONG_READ_TIMEOUT_MS, **by))
    states = [read.state_after_silence() for read in (*cancelled, *closed)]
    for number in numbers[: len(cancelled)]:
        cancelling.cancel(number)
    closing.close()
    judge(
        "MQDMPR-3.1.7.3.1-19",
        expected=facts(before=[Call.WAITING] * 6, cancelled=[NO_MESSAGE_OUTCOME] * 2, closed=[NO_MESSAGE_OUTCOME] * 4),
        observed={
            "before": states,
            "cancelled": [describe_cancelled_read(read) for read in cancelled],
            "closed": [describe_cancelled_read(read) for read in closed],
        },
        evidence=[*cancelled, *closed],
    )


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.3.1-19")
def test_closed_handle_of_application_ends_all_its_reads(peer, sut, judge):
    """A peek and two receives, one of them by a cursor, wait through a handle of an application. When the application
    closes the handle, all of them are refused. A read through another handle still waits, and gets a message.
    """
    application = Application(peer, sut)
    handles = [application.call("open_queue", queue=application.queue, access="receive")["handle"] for _ in range(2)]
    cursor = application.call("open_cursor", handle=handles[0])["cursor"]
    reads = [
        PendingRequest(peer, verb, timeout_ms=LONG_READ_TIMEOUT_MS, **where)
        for verb, where in (
            ("peek_message", {"handle": handles[0]}),
            ("receive", {"cursor": cursor}),
            ("receive", {"handle": handles[0]}),
        )
    ]
    other = PendingRequest(peer, "receive", handle=handles[1], timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()
    waits = [not read.is_answered() for read in (*reads, other)]
    application.call("close_queue", handle=handles[0])
    ends = [read.await_label() for read in reads]
    packet = peer.open_raw().send(application.build_message("a"))
    judge(
        "MQDMPR-3.1.7.3.1-19",
        expected=facts(before=[True] * 4, closed=[Outcome.REFUSED] * 3, other_handle="a"),
        observed={"before": waits, "closed": ends, "other_handle": other.await_label()},
        evidence=packet,
    )


@needs("queue_control", "receive", "subqueues")
@covers("MQDMPR-3.1.7.3.1-21")
def test_journaled_and_moved_messages_end_pending_reads(peer, sut, judge):
    """A peek and a receive wait at the journal of a queue, and others at a subqueue. A message that is received from
    the queue, and a message that is moved to the subqueue, end them.
    """
    application = Application(peer, sut)
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    packets = application.fill_queue("journaled", "moved")
    places = {"journal": f"{application.queue};journal", "subqueue": subqueue}
    reads = {
        place: [
            PendingRequest(peer, verb, queue=name, timeout_ms=LONG_READ_TIMEOUT_MS)
            for verb in ("peek_message", "receive")
        ]
        for place, name in places.items()
    }
    peer.settle()
    waits = {place: [not read.is_answered() for read in found] for place, found in reads.items()}
    application.receive()
    application.call(
        "move", queue=application.queue, to=subqueue, lookup_id=application.get_lookup_ids_by_label()["moved"]
    )
    judge(
        "MQDMPR-3.1.7.3.1-21",
        expected=facts(
            waits={place: [True] * 2 for place in places}, journal=["journaled"] * 2, subqueue=["moved"] * 2
        ),
        observed={
            "waits": waits,
            **{place: [read.await_label() for read in found] for place, found in reads.items()},
        },
        evidence=packets,
    )
