"""MS-MQDMPR 3.2.7.1, 3.2.7.5: cursors of several handles of a queue, and a pending peek at a transactional message."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.messages import Sequence

LONG_WAIT_MS = 600_000


@needs("receive", "queue_control")
@covers("MQDMPR-3.2.7.1-06")
def test_cursor_ends_with_its_own_handle_only(peer, sut, judge):
    """An application opens a queue three times, once to peek, and creates a cursor for each handle. When it has closed
    one of the handles, the SUT refuses peeks by the cursor of this handle, and carries out peeks by the other cursors.
    """
    for closed in range(3):
        application = Application(peer, sut)
        sent = application.fill_queue("first")
        handles = [
            sut.control.call("open_queue", queue=application.queue, access=access)["handle"]
            for access in ("receive", "receive", "peek")
        ]
        cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for handle in handles]
        sut.control.call("close_queue", handle=handles[closed])
        answers = [sut.attempt("peek_message", cursor=cursor, timeout_ms=0) for cursor in cursors]
        of_closed = answers.pop(closed)
        judge.all(
            expected=facts(peek_by_the_cursor_of_the_closed_handle=Outcome.REFUSED, other_peeks=each(Outcome.DONE)),
            observed={"peek_by_the_cursor_of_the_closed_handle": of_closed, "other_peeks": answers},
            case=f"handle {closed + 1} is closed",
            evidence=sent,
        )
        for number, handle in enumerate(handles):
            if number != closed:
                sut.attempt("close_queue", handle=handle)


@needs("receive", "queue_control")
@covers("MQDMPR-3.2.7.5-04")
def test_transactional_message_completes_pending_peek_by_cursor(peer, sut, judge):
    """A pending peek by a cursor returns an arriving transactional message. A peek-next by the cursor returns the
    following message.
    """
    queue = sut.new_queue("pending-peek", transactional=True)
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    pending = PendingRequest(peer, "peek_message", cursor=cursor, timeout_ms=LONG_WAIT_MS)
    peer.settle()
    connection, sequence = peer.open_raw(), Sequence(peer)
    to = rf"TCP:{sut.address}\{queue}"
    sent = [connection.send(sequence.message(label=label, destination=to)) for label in ("first", "second")]
    if not peer.eventually(lambda: sut.labels(queue) == ["first", "second"]):
        raise ConformanceFailure("the messages did not arrive in their queue")
    label = pending.await_label()
    if label != "first":
        raise ConformanceFailure(f"the pending peek returned {label}")
    following = sut.attempt("peek_next", cursor=cursor, timeout_ms=0)
    if following == Outcome.DONE:
        following = sut.read_label("peek_message", cursor=cursor)
    judge.all(expected="second", observed=following, case="message that peek-next returned", evidence=sent)
    sut.attempt("close_queue", handle=handle)
