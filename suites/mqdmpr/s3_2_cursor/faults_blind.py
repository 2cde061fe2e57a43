"""Faults of MS-MQDMPR 3.2.7.2 and 3.2.7.4, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.model.adm import INFINITE, MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus


@fault("queue-manager-cursor-peek-after-receive-starts-at-queue-start", breaks="MQDMPR-3.2.7.2-06", blind=True)
class QueueManagerCursorPeekAfterReceiveStartsAtQueueStart(Cursors):
    """A peek by a cursor that has received a message searches from the start of the queue, not from the cursor."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.UNREAD:
            self.rewind(cursor)
        return super().get_message_for_peek(cursor)


@fault("queue-manager-cursor-peek-at-locked-message-succeeds", breaks="MQDMPR-3.2.7.2-27", blind=True)
class QueueManagerCursorPeekAtLockedMessageSucceeds(Cursors):
    """A peek by a cursor returns its message again while another reader's transaction has locked the message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition) and locked:
            return CursorStatus.SUCCEEDED, at
        return super().get_message_for_peek(cursor)


@fault("queue-manager-cursor-rewound-by-receive", breaks="MQDMPR-3.2.7.4-07", blind=True)
class QueueManagerCursorRewoundByReceive(Cursors):
    """When a cursor receives its current message, the cursor returns to the start of the queue, so the next receive by
    the cursor finds an earlier message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        was_read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if was_read and got[1] is not None:
            self.rewind(cursor)
        return got


@fault("queue-manager-cursor-receive-of-expired-message-takes-next", breaks="MQDMPR-3.2.7.4-30", blind=True)
class QueueManagerCursorReceiveOfExpiredMessageTakesNext(Cursors):
    """A receive by a cursor whose current message has expired returns the next message instead of failing."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition):
            limited = at.MessageReference.TimeToBeReceived != INFINITE
            if limited and at.State is MessagePositionState.DELETED:
                cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-cursor-failed-receive-moves-cursor-to-end", breaks="MQDMPR-3.2.7.4-14", blind=True)
class QueueManagerCursorFailedReceiveMovesCursorToEnd(Cursors):
    """When a receive by a cursor with timeout zero finds no available message, the cursor moves past all messages, even
    past locked messages.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.NOT_FOUND:
            cursor.CursorState = CursorState.WAIT_RECEIVE
            self.wait_expired(cursor)
        return got
