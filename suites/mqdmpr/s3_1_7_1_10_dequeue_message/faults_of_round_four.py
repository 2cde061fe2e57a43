"""Faults that break rules of MS-MQDMPR 3.1.7.1.10 Dequeue Message, written without knowledge of the checks."""

from __future__ import annotations

from typing import cast

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

add(
    "queue-manager-receive-by-cursor-in-transaction-first-message-of-queue",
    "MQDMPR-3.1.7.1.10-12",
    "The queue manager ignores the cursor of a receive in a transaction, and returns the first message of the queue.",
    change_step_arguments(
        MessageReading.dequeue_message, cursor=lambda given: None if given.transaction else given.cursor
    ),
    blind=True,
)


@fault(
    "queue-manager-receive-by-cursor-at-locked-message-takes-next-message", breaks="MQDMPR-3.1.7.1.10-16", blind=True
)
class QueueManagerReceiveByCursorAtLockedMessageTakesNextMessage(QueueCursors):
    """If another reader has received the message of a cursor, but has not ended its receive, a receive by the cursor
    removes the next message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        if cursor.CursorState is CursorState.READ:
            position = cast("MessagePosition", cursor.MessagePositionReference)
            if position.State is MessagePositionState.LOCKED:
                cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-message-does-not-move-cursor-of-transactional-receive", breaks="MQDMPR-3.1.7.1.10-31", blind=True)
class QueueManagerMessageDoesNotMoveCursorOfTransactionalReceive(WaitingReads):
    """When a message arrives for a receive by a cursor that waits in a transaction, the queue manager does not move the
    cursor to this message.
    """

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader.transaction is None or reader.CursorReference is None:
            super().pass_message_to_waiting_reader(reader, position)
            return
        self._remove_waiting_reader(reader)
        reader.answered(Status.MQ_OK, position)
