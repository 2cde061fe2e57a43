"""MS-MQDMPR 3.1.7.1.14 Peek Next Message: unread cursors, and the cursors of several pending peeks."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
ILLEGAL_CURSOR_STATUS = "MQ_ERROR_ILLEGAL_CURSOR_ACTION"


@covers("MQDMPR-3.1.7.1.14-13")
def test_unread_cursor_of_empty_queue_peeks_at_no_next_message(remote, judge):
    """A peek at the next message by a new cursor fails, with and without a timeout: in an empty queue, while another
    cursor of the handle is at a message, and after that message was received.
    """
    queue = remote.open()
    timeouts = (0, LONG_READ_TIMEOUT_MS)

    def peek() -> list[Call]:
        return [queue.begin(Action.PEEK_NEXT, hCursor=queue.open_cursor(), ulTimeout=one) for one in timeouts]

    reads = peek()
    states = [read.state_after_silence() for read in reads]
    remote.deliver(["a"])
    queue.peek(hCursor=queue.open_cursor()).expect_success()
    reads += peek()
    states += [read.state_after_silence() for read in reads[2:]]
    queue.receive()
    reads += peek()
    states += [read.state_after_silence() for read in reads[4:]]
    judge(
        "MQDMPR-3.1.7.1.14-13",
        expected=each(ILLEGAL_CURSOR_STATUS),
        observed=states,
        evidence=reads,
        case="peeks at the next message by new cursors",
    )


@covers("MQDMPR-3.1.7.1.14-25")
def test_each_cursor_moves_to_each_message_that_arrives(remote, judge):
    """Peeks at the next message by three cursors of two handles wait three times. Each time, all of them return the
    message that arrives, and each cursor moves to this message: the next peek waits behind it, and a peek by the cursor
    returns the last message again.
    """
    queue, other = remote.open_with_messages("a"), remote.open()
    places = [(reader, reader.open_cursor()) for reader in (queue, queue, other)]
    evidence = []
    for reader, cursor in places:
        reader.peek(hCursor=cursor).expect_success()
    for label in "bcd":
        pending = [
            reader.begin(Action.PEEK_NEXT, hCursor=one, ulTimeout=LONG_READ_TIMEOUT_MS) for reader, one in places
        ]
        states = [read.state_after_silence() for read in pending]
        remote.deliver([label])
        evidence += pending
        judge(
            "MQDMPR-3.1.7.1.14-25",
            expected=facts(before=[Call.WAITING] * 3, pending_peeks=[label] * 3),
            observed={"before": states, "pending_peeks": [read.wait().label_or_outcome for read in pending]},
            evidence=evidence,
            case=f"arrival of {label}",
        )
    again = [reader.peek(hCursor=one) for reader, one in places]
    judge(
        "MQDMPR-3.1.7.1.14-25",
        expected=["d"] * 3,
        observed=[read.label_or_outcome for read in again],
        evidence=again,
        case="later peeks by the cursors",
    )


@covers("MQDMPR-3.1.7.1.14-29")
def test_pending_peek_next_returns_message_that_is_returned(remote, judge):
    """The second of two messages is locked. Peeks at the next message by two cursors wait behind the first message, and
    return MQ_OK and the second message when the reader returns it to the queue.
    """
    queue, other = remote.open_with_messages("a", "b"), remote.open()
    cursors, locking = [queue.open_cursor() for _ in range(2)], other.open_cursor()
    for reader, cursor in ((queue, cursors[0]), (queue, cursors[1]), (other, locking)):
        reader.peek(hCursor=cursor).expect_success()
    other.peek_next(hCursor=locking).expect_success()
    lock = other.start_receive(hCursor=locking).expect_success()
    pending = [queue.begin(Action.PEEK_NEXT, hCursor=one, ulTimeout=LONG_READ_TIMEOUT_MS) for one in cursors]
    states = [read.state_after_silence() for read in pending]
    other.put_message_back(lock).expect_success()
    judge(
        "MQDMPR-3.1.7.1.14-29",
        expected=facts(before=[Call.WAITING] * 2, after_the_return=["b", "b"]),
        observed={"before": states, "after_the_return": [read.wait().label_or_outcome for read in pending]},
        evidence=[lock, *pending],
    )
