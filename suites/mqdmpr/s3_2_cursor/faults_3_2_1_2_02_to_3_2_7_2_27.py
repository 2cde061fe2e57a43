"""Faults that break the rules MQDMPR-3.2.1.2-02 to MQDMPR-3.2.7.2-27."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got, _get_positions, _move_cursor
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus
from suites.mqdmpr.s3_2_cursor.fault_steps import get_start_position


@fault("cursor-handles-numbered-per-queue", breaks=("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05"))
class CursorHandlesNumberedPerQueue(Cursors):
    """The queue manager numbers the cursors of each open queue from 1, so cursors of different queues have the same
    Handle.
    """

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = len(queue_desc.CursorCollection) + 1
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("cursor-new-after-closed-one-reuses-handle", breaks=("MQDMPR-3.2.7.1-05", "MQDMPR-3.2.1.2-02"))
class CursorNewAfterClosedOneReusesHandle(Cursors):
    """The first cursor of each open queue has the same Handle as the first cursor of every other open queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and len(queue_desc.CursorCollection) == 1:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = 0x7FFF
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("queue-manager-cursor-handle-unique-in-its-queue-only", breaks="MQDMPR-3.2.7.1-05")
class QueueManagerCursorHandleUniqueInItsQueueOnly(Cursors):
    """The Handle of a new cursor is unique only among the cursors of its OpenQueueDescriptor."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = 1 + max(queue_desc.CursorCollection, default=0)
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault(
    "cursor-reads-first-opened-queue",
    breaks=("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03", "MQDMPR-3.2.7.3-03", "MQDMPR-3.2.7.4-04"),
)
class CursorReadsFirstOpenedQueue(Cursors):
    """All cursors read the queue that was opened first."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        first = next(iter(self.qm.descriptors.values())).QueueReference
        if cursor is not None and first is not None:
            cursor.MessagePositionReference = first.MessagePositionList.Start
        return cursor


@fault("new-cursor-starts-after-last-message", breaks="MQDMPR-3.2.7.1-07")
class NewCursorStartsAfterLastMessage(Cursors):
    """A new cursor is positioned after the last message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None:
            _move_cursor(cursor, queue_desc.QueueReference.MessagePositionList.End)
        return cursor


@fault("queue-manager-new-cursor-placed-behind-locked-messages", breaks="MQDMPR-3.2.7.1-07")
class QueueManagerNewCursorPlacedBehindLockedMessages(Cursors):
    """A new cursor is positioned after the locked messages at the start of the queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None:
            for one in queue_desc.QueueReference.MessagePositionList:
                if one.State is not MessagePositionState.LOCKED:
                    break
                queue_desc.QueueReference.MessagePositionList.hold(one)
                queue_desc.QueueReference.MessagePositionList.release(cursor.MessagePositionReference)
                cursor.MessagePositionReference = one
        return cursor


@fault("queue-manager-new-cursor-placed-like-earlier-cursor-of-handle", breaks="MQDMPR-3.2.7.1-07", blind=True)
class QueueManagerNewCursorPlacedLikeEarlierCursorOfHandle(Cursors):
    """A new cursor starts at the position of the cursor that was opened before with the same handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        earlier = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if earlier and cursor is not None:
            self.message_available(cursor, earlier[-1].MessagePositionReference)  # type: ignore[arg-type]
        return cursor


@fault("new-cursor-waiting-for-peek", breaks="MQDMPR-3.2.7.1-08")
class NewCursorWaitingForPeek(Cursors):
    """A new cursor has the state of a cursor with a pending peek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


@fault(
    "unread-cursor-accepts-peek-next",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.3-06", "MQDMPR-3.2.7.1-08"),
)
class UnreadCursorAcceptsPeekNext(Cursors):
    """A peek at the next message by a cursor in the state UNREAD returns the first message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        return self._seek_for_peek(cursor)


@fault("unread-cursor-peeks-last-message", breaks=("MQDMPR-3.2.7.2-06", "MQDMPR-3.2.7.2-18"))
class UnreadCursorPeeksLastMessage(Cursors):
    """A peek by a cursor in the state UNREAD returns the last message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        positions = _get_positions(cursor)
        if cursor.CursorState is CursorState.UNREAD and positions is not None:
            last = self.qm.seeking.seek_available(positions.End, True, SeekDirection.BACKWARD)
            if last is not None:
                _move_cursor(cursor, last)
                cursor.CursorState = CursorState.READ
                return CursorStatus.SUCCEEDED, last
        got: Got = super().get_message_for_peek(cursor)
        return got


@fault("queue-manager-cursor-peek-after-receive-starts-at-queue-start", breaks="MQDMPR-3.2.7.2-06", blind=True)
class QueueManagerCursorPeekAfterReceiveStartsAtQueueStart(Cursors):
    """A peek by a cursor that has received a message searches from the start of the queue, not from the cursor."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.UNREAD:
            self.rewind(cursor)
        return super().get_message_for_peek(cursor)


@fault("pending-peek-does-not-change-cursor-state", breaks=("MQDMPR-3.2.7.2-12", "MQDMPR-3.2.7.3-15"))
class PendingPeekDoesNotChangeCursorState(Cursors):
    """A pending peek by a cursor does not change the cursor's state."""

    def _seek_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.CursorState
        got: Got = super()._seek_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            cursor.CursorState = before
        return got


@fault("cursor-peek-never-waits", breaks=("MQDMPR-3.2.7.2-13", "MQDMPR-3.2.7.3-16"))
class CursorPeekNeverWaits(Cursors):
    """A peek by a cursor that finds no message fails, regardless of its timeout."""

    def _seek_for_peek(self, cursor: Cursor) -> Got:
        status, position = super()._seek_for_peek(cursor)
        return (CursorStatus.NOT_FOUND if status is CursorStatus.WAITING else status), position


@fault("cursor-peek-leaves-unread", breaks="MQDMPR-3.2.7.2-16")
class CursorPeekLeavesUnread(Cursors):
    """A peek by a cursor leaves the cursor's state UNREAD."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-does-not-move-cursor", breaks="MQDMPR-3.2.7.2-17")
class CursorPeekDoesNotMoveCursor(Cursors):
    """A peek by a cursor leaves the cursor at the start of the queue."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_message_for_peek(cursor)
        _move_cursor(cursor, get_start_position(cursor))
        cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-returns-first-message", breaks=("MQDMPR-3.2.7.2-18", "MQDMPR-3.2.7.2-23"))
class CursorPeekReturnsFirstMessage(Cursors):
    """A peek by a cursor returns the first message of the queue, regardless of the cursor's position."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.SUCCEEDED:
            position = self.qm.seeking.seek_available(get_start_position(cursor), True)
        return status, position


@fault("cursor-first-peek-fails", breaks="MQDMPR-3.2.7.2-19")
class CursorFirstPeekFails(Cursors):
    """The first peek by a cursor moves the cursor to a message and fails."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        unread = cursor.CursorState is CursorState.UNREAD
        got: Got = super().get_message_for_peek(cursor)
        return (CursorStatus.NOT_FOUND, None) if unread and got[0] is CursorStatus.SUCCEEDED else got


@fault("cursor-second-peek-returns-already-received", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class CursorSecondPeekReturnsAlreadyReceived(Cursors):
    """A cursor's second peek at the same message fails, as if the message had been received."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            return CursorStatus.ALREADY_RECEIVED, None
        got: Got = super().get_message_for_peek(cursor)
        return got


@fault("cursor-peek-at-unlocked-message-refused", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class CursorPeekAtUnlockedMessageRefused(Cursors):
    """A second peek by a cursor at a message with a priority other than 3 is refused."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        was_read = cursor.CursorState is CursorState.READ
        status, position = super().get_message_for_peek(cursor)
        if was_read and position is not None and position.MessageReference.Priority > 3:
            return CursorStatus.ALREADY_RECEIVED, None
        return status, position


@fault(
    "cursor-moves-on-when-message-removed",
    breaks=(
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.10-D03",
        "MQDMPR-3.2.7.2-27",
        "MQDMPR-3.1.7.2.1-04",
    ),
)
class CursorMovesOnWhenMessageRemoved(Cursors):
    """When the message of a cursor is removed, the cursor moves to the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


@fault("queue-manager-cursor-peek-at-locked-message-succeeds", breaks="MQDMPR-3.2.7.2-27", blind=True)
class QueueManagerCursorPeekAtLockedMessageSucceeds(Cursors):
    """A peek by a cursor returns its message again while another reader's transaction has locked the message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition) and locked:
            return CursorStatus.SUCCEEDED, at
        return super().get_message_for_peek(cursor)


@fault("queue-manager-peek-by-cursor-finds-message-of-transaction", breaks="MQDMPR-3.2.7.2-27")
class QueueManagerPeekByCursorFindsMessageOfTransaction(Cursors):
    """A peek by a cursor returns the cursor's message although a transaction has received it."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, found = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        if status is not CursorStatus.ALREADY_RECEIVED or not isinstance(position, MessagePosition):
            return status, found
        return (CursorStatus.SUCCEEDED, position) if position.State is MessagePositionState.LOCKED else (status, found)


@fault("queue-manager-cursor-of-moved-message-peeks-next", breaks="MQDMPR-3.2.7.2-27", blind=True)
class QueueManagerCursorOfMovedMessagePeeksNext(Cursors):
    """When the message of a cursor was moved to a subqueue, a peek by the cursor returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if cursor.CursorState is CursorState.READ and queue is not None and queue.SubqueueCollection:
            cursor.CursorState = CursorState.UNREAD
        return super().get_message_for_peek(cursor)
