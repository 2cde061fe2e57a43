"""Faults that break rules of MS-MQDMPR 3.2 Cursor for some of the cursors."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState, RemoteReadState
from reference_qm.model.statuses import Status


class _CursorHandleChanger(QueueCursors):
    """Give some new cursors a wrong handle; a subclass selects which."""

    def choose_cursor_handle(self, queue_desc: OpenQueueDescriptor, handle: int) -> int:
        """Return the handle of a new cursor."""
        return handle

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = self.choose_cursor_handle(queue_desc, cursor.Handle)
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("server-cursors-of-two-remote-readers-have-same-handle", breaks="MQDMPR-3.2.1.2-02", blind=True)
class ServerCursorsOfTwoRemoteReadersHaveSameHandle(_CursorHandleChanger):
    """The cursors of each remote reader are numbered from 0x1000, so that cursors of two readers have the same
    Handle.
    """

    def choose_cursor_handle(self, queue_desc: OpenQueueDescriptor, handle: int) -> int:
        remote = queue_desc.RemoteReadState is not RemoteReadState.NONE
        return max((0xFFF, *queue_desc.CursorCollection)) + 1 if remote else handle


@fault("server-cursor-after-close-has-handle-of-open-cursor", breaks="MQDMPR-3.2.1.2-02", blind=True)
class ServerCursorAfterCloseHasHandleOfOpenCursor(_CursorHandleChanger):
    """The Handle of a cursor is 0x1000 plus the number of open cursors, so that a cursor that is created after another
    cursor was closed can have the Handle of an open cursor.
    """

    def choose_cursor_handle(self, queue_desc: OpenQueueDescriptor, handle: int) -> int:
        others = [one for descriptor in self.qm.descriptors.values() for one in descriptor.CursorCollection.values()]
        return 0x1000 + len(others) if queue_desc.RemoteReadState is not RemoteReadState.NONE else handle


@fault("server-second-cursor-has-state-of-first", breaks="MQDMPR-3.2.7.1-08", blind=True)
class ServerSecondCursorHasStateOfFirst(QueueCursors):
    """A second cursor of a handle has the CursorState and the position of the first cursor."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        first = next(iter(queue_desc.CursorCollection.values()), None)
        cursor = super().open(queue_desc)
        if cursor is not None and first is not None and first.CursorState is CursorState.READ:
            self.get_message_for_peek(cursor)
        return cursor


@fault("server-new-cursor-of-empty-queue-has-state-wait-peek", breaks="MQDMPR-3.2.7.1-08", blind=True)
class ServerNewCursorOfEmptyQueueHasStateWaitPeek(QueueCursors):
    """The CursorState of a new cursor of an empty queue is WaitPeek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        queue = queue_desc.QueueReference
        if cursor is not None and queue is not None and not len(queue.MessagePositionList):
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


@fault("server-new-cursor-of-subqueue-has-state-wait-peek", breaks="MQDMPR-3.2.7.1-08", blind=True)
class ServerNewCursorOfSubqueueHasStateWaitPeek(QueueCursors):
    """The CursorState of a new cursor of a subqueue or journal is WaitPeek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None and queue_desc.QueueReference.parent:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


class _CursorPositionKeeper(WaitingReads):
    """Do not move some cursors to the message that completes their pending reads; a subclass selects which."""

    def is_cursor_position_kept(
        self, reader: WaitingMessageReadOperation, cursor: Cursor, position: MessagePosition
    ) -> bool:
        """Return whether the cursor stays at its place."""
        return False

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        cursor = reader.CursorReference
        if cursor is None or not self.is_cursor_position_kept(reader, cursor, position):
            super().pass_message_to_waiting_reader(reader, position)
            return
        before, queue = cursor.MessagePositionReference, position.QueueReference
        queue.MessagePositionList.hold(before)
        super().pass_message_to_waiting_reader(reader, position)
        queue.MessagePositionList.release(position)
        cursor.MessagePositionReference = before
        if not reader.DestructiveRead:
            cursor.CursorState = CursorState.WAIT_PEEK


@fault("server-message-moves-only-first-cursor-of-two-pending-peeks", breaks="MQDMPR-3.2.7.5-07", blind=True)
class ServerMessageMovesOnlyFirstCursorOfTwoPendingPeeks(_CursorPositionKeeper):
    """A message that completes the pending peeks of two cursors moves only the first cursor."""

    def is_cursor_position_kept(
        self, reader: WaitingMessageReadOperation, cursor: Cursor, position: MessagePosition
    ) -> bool:
        first = next(iter(reader.descriptor.CursorCollection.values()))
        return not reader.DestructiveRead and cursor is not first and first.MessagePositionReference is position


@fault("server-completed-receive-does-not-move-cursor-that-received", breaks="MQDMPR-3.2.7.5-07", blind=True)
class ServerCompletedReceiveDoesNotMoveCursorThatReceived(_CursorPositionKeeper):
    """A message that completes a pending receive does not move the cursor of the receive if the cursor has received a
    message before.
    """

    def is_cursor_position_kept(
        self, reader: WaitingMessageReadOperation, cursor: Cursor, position: MessagePosition
    ) -> bool:
        return reader.DestructiveRead and isinstance(cursor.MessagePositionReference, MessagePosition)


@fault("server-transactional-message-does-not-move-cursor-of-peek", breaks="MQDMPR-3.2.7.5-07", blind=True)
class ServerTransactionalMessageDoesNotMoveCursorOfPeek(_CursorPositionKeeper):
    """A transactional message that completes a pending peek does not move the cursor of the peek."""

    def is_cursor_position_kept(
        self, reader: WaitingMessageReadOperation, cursor: Cursor, position: MessagePosition
    ) -> bool:
        return not reader.DestructiveRead and position.MessageReference.TransactionIdentifier is not None


class _WaitReceiveStateKeeper(WaitingReads):
    """Keep the state of some cursors whose pending receive ends without a message; a subclass selects which."""

    def is_cursor_state_kept(self, cursor: Cursor, status: Status) -> bool:
        """Return whether the cursor keeps its state."""
        return False

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cursor = reader.CursorReference
        kept = cursor is not None and reader.DestructiveRead and self.is_cursor_state_kept(cursor, status)
        super().end_wait_without_message(reader, status)
        if cursor is not None and kept:
            cursor.CursorState = CursorState.WAIT_RECEIVE


@fault("server-expired-receive-does-not-set-moved-cursor-unread", breaks="MQDMPR-3.2.7.6-05", blind=True)
class ServerExpiredReceiveDoesNotSetMovedCursorUnread(_WaitReceiveStateKeeper):
    """The state of a cursor that has received a message before does not become Unread when its pending receive
    expires.
    """

    def is_cursor_state_kept(self, cursor: Cursor, status: Status) -> bool:
        return isinstance(cursor.MessagePositionReference, MessagePosition)


@fault("queue-manager-local-cursors-numbered-by-descriptor", breaks="MQDMPR-3.2.1.2-02")
class QueueManagerLocalCursorsNumberedByDescriptor(_CursorHandleChanger):
    """The cursors of each local application are numbered from 0x2000, so that cursors of two descriptors have the same
    Handle.
    """

    def choose_cursor_handle(self, queue_desc: OpenQueueDescriptor, handle: int) -> int:
        local = queue_desc.RemoteReadState is RemoteReadState.NONE
        return max((0x1FFF, *queue_desc.CursorCollection)) + 1 if local else handle


@fault("server-second-cursor-of-expired-receive-keeps-state-wait-receive", breaks="MQDMPR-3.2.7.6-05")
class ServerSecondCursorOfExpiredReceiveKeepsStateWaitReceive(_WaitReceiveStateKeeper):
    """The state of a cursor whose pending receive expires does not become Unread if the receive by another cursor of
    the handle expired before.
    """

    def is_cursor_state_kept(self, cursor: Cursor, status: Status) -> bool:
        before, self.first = getattr(self, "first", cursor), getattr(self, "first", cursor)
        return before is not cursor


@fault("server-new-cursor-after-close-has-state-wait-peek", breaks="MQDMPR-3.2.7.1-08")
class ServerNewCursorAfterCloseHasStateWaitPeek(QueueCursors):
    """The CursorState of a cursor that is created after another cursor was closed is WaitPeek."""

    def move_cursor_to_start(self, cursor: Cursor) -> None:
        super().move_cursor_to_start(cursor)
        self.has_closed = True

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and getattr(self, "has_closed", False):
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor
