"""Faults that break rules of MS-MQDMPR 3.2 Cursor, written without knowledge of the checks."""

from __future__ import annotations

from typing import cast

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus


@fault("queue-manager-new-cursor-of-empty-queue-state-wait-peek", breaks="MQDMPR-3.2.7.1-08", blind=True)
class QueueManagerNewCursorOfEmptyQueueStateWaitPeek(QueueCursors):
    """The queue manager creates a cursor of an empty queue in the CursorState WaitPeek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and not len(cast("Queue", queue_desc.QueueReference).MessagePositionList):
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


class _UnlockedPositionsRecorder(MessagePositions):
    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.LOCKED:
            vars(self).setdefault("unlocked_positions", set()).add(position)
        super().unlock_message(position)


class _UnlockedMessageRefuser(QueueCursors):
    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        unlocked = vars(self.qm.message_positions).get("unlocked_positions", ())
        if cursor.CursorState is CursorState.READ and cursor.MessagePositionReference in unlocked:
            return CursorStatus.ALREADY_RECEIVED, None
        return super().get_message_for_peek(cursor)


add(
    "queue-manager-peek-by-cursor-at-unlocked-message-already-received",
    "MQDMPR-3.2.7.2-24",
    "The queue manager refuses a peek by a cursor at a message that was received in the meantime and is available "
    "again after an abort or a cancelled read.",
    combine_installers(replace_part(_UnlockedPositionsRecorder), replace_part(_UnlockedMessageRefuser)),
    blind=True,
)


@fault("queue-manager-receive-by-moved-unread-cursor-returns-first-message", breaks="MQDMPR-3.2.7.4-21", blind=True)
class QueueManagerReceiveByMovedUnreadCursorReturnsFirstMessage(QueueCursors):
    """The queue manager moves an unread cursor to the next message for a receive, but returns the first message of
    the queue.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        moves = cursor.CursorState is not CursorState.READ
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if moves and position is not None:
            start = position.QueueReference.MessagePositionList.Start
            position = self.qm.message_search.seek_available(start, False) or position
        return status, position
