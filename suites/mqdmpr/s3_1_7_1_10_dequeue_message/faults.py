"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message and of the other events that read messages."""

from __future__ import annotations

from harness.faults.calls import Given, with_arguments, with_status
from harness.faults.parts import fault
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus, Status

READ_EVENTS = (
    Reading.dequeue_message,
    Reading.read_by_lookup_identifier,
    Reading.peek_message,
    Reading.peek_next_message,
)


add(
    "read-of-deleted-queue-fails-with-not-found",
    (
        "MQDMPR-3.1.7.1.10-06",
        "MQDMPR-3.1.7.1.11-04",
        "MQDMPR-3.1.7.1.13-07",
        "MQDMPR-3.1.7.1.14-04",
        "MQDMPR-3.1.7.1.15-04",
    ),
    "A read of a queue that was deleted after it was opened returns MQ_ERROR_MESSAGE_NOT_FOUND.",
    both(
        *(
            with_status(read, Status.MQ_ERROR_MESSAGE_NOT_FOUND, of=Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)
            for read in READ_EVENTS
        )
    ),
)
add(
    "two-phase-receive-deletes-at-first-phase",
    ("MQDMPR-3.1.7.1.10-02", "MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.1.12-21"),
    "The queue manager deletes a message in the first phase of a two-phase receive.",
    with_arguments(Reading.take_message_out, two_phase_read=lambda given: False),
)
add(
    "one-phase-receive-leaves-locked-message",
    ("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.13-34"),
    "The queue manager leaves a message that is received in one phase locked in its queue.",
    with_arguments(
        Reading.take_message_out, two_phase_read=lambda given: given.two_phase_read or given.transaction is None
    ),
)
add(
    "receive-by-cursor-takes-first-message",
    ("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15", "MQDMPR-3.1.7.1.11-10"),
    "A receive by a cursor returns the first message of the queue.",
    with_arguments(Reading.dequeue_message, cursor=lambda given: None),
)


@fault("receive-by-cursor-skips-received-message", breaks=("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17"))
class ReceiveByCursorSkipsReceivedMessage(Cursors):
    """A receive by a cursor whose message another reader has received returns the next message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return super().get_next_message_for_dequeue(cursor, no_wait)
        return status, position


@fault("received-message-reported-as-not-found", breaks=("MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-16"))
class ReceivedMessageReportedAsNotFound(Cursors):
    """A read by a cursor whose message another reader has received returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return _replace_already_received(super().get_next_message_for_dequeue(cursor, no_wait))

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        return _replace_already_received(super().get_message_for_peek(cursor))


def _replace_already_received(got: Got) -> Got:
    return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED else got


add(
    "receive-by-cursor-with-timeout-0-times-out",
    ("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20"),
    "A receive by a cursor with timeout zero that finds no message returns MQ_ERROR_IO_TIMEOUT.",
    with_arguments(Cursors.get_next_message_for_dequeue, no_wait=lambda given: False),
)
add(
    "read-never-waits",
    (
        "MQDMPR-3.1.7.1.10-22",
        "MQDMPR-3.1.7.1.10-23",
        "MQDMPR-3.1.7.1.10-D01",
        "MQDMPR-3.1.7.1.14-16",
        "MQDMPR-3.1.7.1.14-17",
        "MQDMPR-3.1.7.1.15-18",
        "MQDMPR-3.1.7.1.15-19",
        "MQDMPR-3.1.7.1.15-44",
        "MQDMPR-3.1.7.3.1-10",
        "MQDMPR-3.1.7.3.1-14",
        "MQDMPR-3.1.7.3.1-18",
    ),
    "A read without an available message ends at once, regardless of its timeout.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: 0),
)


def _return_next_message(given: Given) -> Answered:
    behind = given.position.Next  # before the message is removed from the queue

    def answer_with_next_message(status: Status, taken: MessagePosition | None) -> None:
        given.answered(status, behind if taken is not None and isinstance(behind, MessagePosition) else taken)

    return answer_with_next_message


add(
    "receive-returns-next-message",
    ("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.1.11-14"),
    "A receive returns the content of the message after the message that it removes.",
    with_arguments(Reading.take_message_out, answered=_return_next_message),
)
