"""Faults that break rules of MS-MQDMPR 3.1.7.1.14 Peek Next Message in one state of a queue or of a cursor."""

from __future__ import annotations

from harness.faults.calls import change_step_arguments, replace_step_if
from harness.faults.parts import fault
from harness.faults.read_answers import change_read_answers, is_transactional
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status

add(
    "queue-manager-peek-next-with-timeout-in-deleted-queue-times-out",
    "MQDMPR-3.1.7.1.14-04",
    "A peek at the next message with a timeout in a queue that was deleted returns MQ_ERROR_IO_TIMEOUT.",
    replace_step_if(
        MessageReading.peek_next_message,
        lambda given: given.queue_desc.QueueReference is None and given.timeout_ms != 0,
        lambda given: given.answered(Status.MQ_ERROR_IO_TIMEOUT, None),
    ),
    blind=True,
)


@fault("queue-manager-peek-next-after-failed-receive-by-cursor-allowed", breaks="MQDMPR-3.1.7.1.14-13", blind=True)
class QueueManagerPeekNextAfterFailedReceiveByCursorAllowed(QueueCursors):
    """A peek at the next message is allowed for a cursor whose first receive found no message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.Handle in self.__dict__.get("failed", set()) and cursor.CursorState is CursorState.UNREAD:
            return self._seek_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.NOT_FOUND:
            self.__dict__.setdefault("failed", set()).add(cursor.Handle)
        return got


add(
    "queue-manager-peek-next-does-not-wait-behind-locked-message",
    "MQDMPR-3.1.7.1.14-16",
    "A peek at the next message does not wait if the last message of the queue is locked.",
    replace_step_if(
        MessageReading.peek_next_message,
        lambda given: (
            given.queue_desc.QueueReference is not None
            and isinstance(given.queue_desc.QueueReference.MessagePositionList.Tail, MessagePosition)
            and given.queue_desc.QueueReference.MessagePositionList.Tail.State is MessagePositionState.LOCKED
        ),
        lambda given: given.answered(Status.MQ_ERROR_IO_TIMEOUT, None),
    ),
    blind=True,
)


@fault("queue-manager-cursor-of-pending-peek-next-moves-to-first-message", breaks="MQDMPR-3.1.7.1.14-25", blind=True)
class QueueManagerCursorOfPendingPeekNextMovesToFirstMessage(QueueCursors):
    """The cursor of a pending peek at the next message moves to the first message of the queue when a message of a
    higher priority arrives.
    """

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        first = message_position.QueueReference.MessagePositionList.Start.Next
        waits = cursor.CursorState is CursorState.WAIT_PEEK
        super().on_message_available(cursor, message_position)
        if waits and isinstance(first, MessagePosition) and first is not message_position:
            cursor.MessagePositionReference = first


add(
    "queue-manager-pending-peek-next-fails-for-transactional-message",
    "MQDMPR-3.1.7.1.14-29",
    "A pending peek at the next message returns MQ_ERROR_IO_TIMEOUT when a transactional message arrives.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=change_read_answers(
            lambda given, status, position: (
                (Status.MQ_ERROR_IO_TIMEOUT, None)
                if not given.destructive_read and given.cursor is not None and is_transactional(position)
                else (status, position)
            )
        ),
    ),
    blind=True,
)
