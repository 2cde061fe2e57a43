"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message, some of which break the other events that read, too."""

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

READS = (Reading.dequeue_message, Reading.read_by_lookup_identifier, Reading.peek_message, Reading.peek_next_message)


add(
    "deleted-queue-taken-for-empty",
    (
        "MQDMPR-3.1.7.1.10-06",
        "MQDMPR-3.1.7.1.11-04",
        "MQDMPR-3.1.7.1.13-07",
        "MQDMPR-3.1.7.1.14-04",
        "MQDMPR-3.1.7.1.15-04",
    ),
    "A queue that was deleted while it was open is one without messages.",
    both(
        *(
            with_status(read, Status.MQ_ERROR_MESSAGE_NOT_FOUND, of=Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)
            for read in READS
        )
    ),
)
add(
    "two-phases-in-one",
    ("MQDMPR-3.1.7.1.10-02", "MQDMPR-3.1.7.1.12-18", "MQDMPR-3.1.7.1.12-21"),
    "A message that is received in two phases is deleted in the first.",
    with_arguments(Reading.take_message_out, two_phase_read=lambda given: False),
)
add(
    "received-in-one-phase-stays",
    ("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.13-34"),
    "A message that is received in one phase stays in its queue, locked for ever.",
    with_arguments(
        Reading.take_message_out, two_phase_read=lambda given: given.two_phase_read or given.transaction is None
    ),
)
add(
    "cursor-not-asked-by-receives",
    ("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.10-15", "MQDMPR-3.1.7.1.11-10"),
    "A receive by a cursor takes the first message.",
    with_arguments(Reading.dequeue_message, cursor=lambda given: None),
)


@fault("receive-of-taken-message-takes-the-next", breaks=("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17"))
class TakesTheNext(Cursors):
    """A receive by a cursor whose message was taken takes the one behind it."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return super().get_next_message_for_dequeue(cursor, no_wait)
        return status, position


@fault("taken-message-told-as-not-found", breaks=("MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-16"))
class ToldAsNotFound(Cursors):
    """Of a cursor whose message was taken it is said that there is no message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return _not_found(super().get_next_message_for_dequeue(cursor, no_wait))

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        return _not_found(super().get_message_for_peek(cursor))


def _not_found(got: Got) -> Got:
    return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.ALREADY_RECEIVED else got


add(
    "receive-that-may-not-wait-times-out",
    ("MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20"),
    "A receive by a cursor that may not wait begins to wait, and its time is over at once.",
    with_arguments(Cursors.get_next_message_for_dequeue, no_wait=lambda given: False),
)
add(
    "no-read-waits",
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
    "Whatever its time-out, a read ends at once when there is no message.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: 0),
)


def _answer_the_message_behind(given: Given) -> Answered:
    behind = given.position.Next  # before it is taken

    def answer(status: Status, taken: MessagePosition | None) -> None:
        given.answered(status, behind if taken is not None and isinstance(behind, MessagePosition) else taken)

    return answer


add(
    "receive-brings-the-message-behind",
    ("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.1.11-14"),
    "Who receives is given the message behind the one that is taken, if there is one.",
    with_arguments(Reading.take_message_out, answered=_answer_the_message_behind),
)
