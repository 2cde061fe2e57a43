"""MS-MQDMPR 3.1.7.1.6 Close Queue: the cursors of a closed handle."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

LONG_READ_TIMEOUT_MS = 60_000


@needs("receive", "queues")
@covers("MQDMPR-3.1.7.1.2-06", "MQDMPR-3.1.7.1.6-15")
def test_closed_handle_closes_its_cursors(peer, sut, judge):
    """Each of three handles has two cursors. When the first handle, and the third handle, which was opened to peek, are
    closed, their cursors are closed too. When one cursor of the second handle is closed, the other cursor of this
    handle stays open.
    """
    application = Application(peer, sut)
    queue = application.queue
    packet = peer.open_raw().send(application.build_message("read"))
    application.await_message_count(1)
    accesses = ("receive", "receive", "peek")
    handles = [sut.control.call("open_queue", queue=queue, access=access)["handle"] for access in accesses]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for handle in handles for _ in range(2)]

    def attempt_peek_with_each_cursor() -> list[str]:
        return [sut.attempt("peek_message", cursor=cursor, timeout_ms=0) for cursor in cursors]

    cursors_before = attempt_peek_with_each_cursor()
    for handle in (handles[0], handles[2]):
        sut.control.call("close_queue", handle=handle)
    judge(
        "MQDMPR-3.1.7.1.6-15",
        expected={
            "before the close": [Outcome.DONE] * 6,
            "after the close": [Outcome.REFUSED] * 2 + [Outcome.DONE] * 2 + [Outcome.REFUSED] * 2,
        },
        observed={"before the close": cursors_before, "after the close": attempt_peek_with_each_cursor()},
        case="peeks by the six cursors",
    )
    sut.control.call("close_cursor", cursor=cursors[2])
    judge(
        "MQDMPR-3.1.7.1.2-06",
        expected=[Outcome.REFUSED, Outcome.DONE],
        observed=attempt_peek_with_each_cursor()[2:4],
        evidence=packet,
        case="peeks by the closed cursor and by the open cursor",
    )
    sut.control.call("close_queue", handle=handles[1])


@needs("receive", "queues")
@covers("MQDMPR-3.1.7.1.6-10")
def test_closed_handle_ends_no_read_of_other_handle(peer, sut, judge):
    """One receive waits through each of two handles of a queue, and the first handle is closed. The receive through the
    second handle still waits, and gets the next message. The check does not judge how the receive through the closed
    handle ends (erratum E107).
    """
    application = Application(peer, sut)
    handles = [sut.control.call("open_queue", queue=application.queue, access="receive")["handle"] for _ in range(2)]
    reads = [PendingRequest(peer, "receive", handle=handle, timeout_ms=LONG_READ_TIMEOUT_MS) for handle in handles]
    peer.settle()
    sut.control.call("close_queue", handle=handles[0])
    peer.settle()
    early_answer = reads[1].is_answered()
    packet = peer.open_raw().send(application.build_message("read"))
    judge(
        "MQDMPR-3.1.7.1.6-10",
        expected={"answered_before_the_message": False, "message": "read"},
        observed={"answered_before_the_message": early_answer, "message": reads[1].await_label()},
        evidence=packet,
        case="read of the second handle",
    )
    sut.control.call("close_queue", handle=handles[1])
