"""Faults of peeks at the next message while messages are locked, and while other cursors or pending reads exist."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.neighbouring_reads import (
    is_followed_by_locked_message,
    list_waiting_reads,
)
from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


class PeekNextChanger(MessageReading):
    """A part of the queue manager that changes some peeks at the next message; a subclass selects which."""

    def change_timeout(self, cursor: Cursor, timeout_ms: int | None) -> int | None:
        return timeout_ms

    def choose_status_for_deleted_queue(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor, timeout_ms: int | None
    ) -> Status:
        return Status.MQ_ERROR_QUEUE_NOT_AVAILABLE

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None:
            answered(self.choose_status_for_deleted_queue(queue_desc, cursor, timeout_ms), None)
            return
        super().peek_next_message(queue_desc, answered, now, cursor, self.change_timeout(cursor, timeout_ms), tag)


@fault("queue-manager-peek-next-of-deleted-queue-illegal-cursor-action", breaks="MQDMPR-3.1.7.1.14-04", blind=True)
class QueueManagerPeekNextOfDeletedQueueIllegalCursorAction(PeekNextChanger):
    """A peek at the next message of a deleted queue returns MQ_ERROR_ILLEGAL_CURSOR_ACTION if the cursor has read no
    message.
    """

    def choose_status_for_deleted_queue(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor, timeout_ms: int | None
    ) -> Status:
        unread = cursor.CursorState is CursorState.UNREAD
        return Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION if unread else Status.MQ_ERROR_QUEUE_NOT_AVAILABLE


@fault("queue-manager-timed-peek-next-of-deleted-queue-returns-io-timeout", breaks="MQDMPR-3.1.7.1.14-04", blind=True)
class QueueManagerTimedPeekNextOfDeletedQueueReturnsIoTimeout(PeekNextChanger):
    """A peek with a timeout at the next message of a deleted queue returns MQ_ERROR_IO_TIMEOUT."""

    def choose_status_for_deleted_queue(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor, timeout_ms: int | None
    ) -> Status:
        return Status.MQ_ERROR_IO_TIMEOUT if timeout_ms else Status.MQ_ERROR_QUEUE_NOT_AVAILABLE


@fault("queue-manager-peek-next-uses-oldest-cursor-of-handle", breaks="MQDMPR-3.1.7.1.14-08", blind=True)
class QueueManagerPeekNextUsesOldestCursorOfHandle(QueueCursors):
    """A peek at the next message obtains its message from the oldest cursor of the handle that has read a message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        oldest = next(
            (
                one
                for one in cursor.OpenQueueDescriptorReference.CursorCollection.values()
                if one.CursorState is CursorState.READ
            ),
            cursor,
        )
        return super().get_next_message_for_peek(oldest)


@fault(
    "queue-manager-peek-next-after-received-message-returns-first",
    breaks=("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.1.7.1.14-10"),
    blind=True,
)
class QueueManagerPeekNextAfterReceivedMessageReturnsFirst(QueueCursors):
    """If the message of the cursor was received, a peek at the next message returns the first message of the queue."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        gone = getattr(cursor.MessagePositionReference, "State", None) is MessagePositionState.DELETED
        if cursor.CursorState is CursorState.READ and gone:
            self.move_cursor_to_start(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-returns-newer-message-at-queue-front", breaks="MQDMPR-3.1.7.1.14-10", blind=True)
class QueueManagerPeekNextReturnsNewerMessageAtQueueFront(QueueCursors):
    """A peek at the next message returns the first message of the queue if this message arrived after the cursor's
    message but precedes it in the queue.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if cursor.CursorState is CursorState.READ and queue is not None:
            first = self.qm.message_search.seek_available(queue.MessagePositionList.Start, True)
            if (
                first is not None
                and getattr(at, "order", 0) < first.order
                and first.MessageReference.Priority
                > (
                    at.MessageReference.Priority  # type: ignore[union-attr]
                )
            ):
                self.move_cursor_to_start(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-by-unread-cursor-beside-read-cursor-allowed", breaks="MQDMPR-3.1.7.1.14-13", blind=True)
class QueueManagerPeekNextByUnreadCursorBesideReadCursorAllowed(QueueCursors):
    """A peek at the next message by a cursor that has read no message succeeds if another cursor of the handle has read
    a message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        others = cursor.OpenQueueDescriptorReference.CursorCollection.values()
        if cursor.CursorState is CursorState.UNREAD and any(one.CursorState is CursorState.READ for one in others):
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-of-empty-queue-by-unread-cursor-waits", breaks="MQDMPR-3.1.7.1.14-13", blind=True)
class QueueManagerPeekNextOfEmptyQueueByUnreadCursorWaits(QueueCursors):
    """If the queue is empty, a peek at the next message by a cursor that has read no message waits."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if cursor.CursorState is CursorState.UNREAD and queue is not None and not len(queue.MessagePositionList):
            cursor.CursorState = CursorState.WAIT_PEEK
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-beside-pending-read-fails-at-once", breaks="MQDMPR-3.1.7.1.14-16", blind=True)
class QueueManagerPeekNextBesidePendingReadFailsAtOnce(PeekNextChanger):
    """While another read of the queue is pending, a peek at the next message returns MQ_ERROR_IO_TIMEOUT at once."""

    def change_timeout(self, cursor: Cursor, timeout_ms: int | None) -> int | None:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        return 0 if queue is not None and list_waiting_reads(queue) else timeout_ms


@fault("queue-manager-peek-next-before-locked-message-fails-at-once", breaks="MQDMPR-3.1.7.1.14-16", blind=True)
class QueueManagerPeekNextBeforeLockedMessageFailsAtOnce(PeekNextChanger):
    """If only locked messages follow, a peek at the next message returns MQ_ERROR_IO_TIMEOUT at once."""

    def change_timeout(self, cursor: Cursor, timeout_ms: int | None) -> int | None:
        return 0 if is_followed_by_locked_message(cursor) else timeout_ms


@fault("queue-manager-message-moves-only-first-cursor-of-pending-peeks", breaks="MQDMPR-3.1.7.1.14-25", blind=True)
class QueueManagerMessageMovesOnlyFirstCursorOfPendingPeeks(QueueCursors):
    """If a message ends the pending peeks of several cursors, only the first of these cursors moves to the message."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        moved = self.__dict__.setdefault("moved", set())
        if cursor.CursorState is CursorState.WAIT_PEEK and message_position in moved:
            return
        moved.add(message_position)
        super().on_message_available(cursor, message_position)


@fault("queue-manager-message-moves-cursor-only-at-first-pending-peek", breaks="MQDMPR-3.1.7.1.14-25", blind=True)
class QueueManagerMessageMovesCursorOnlyAtFirstPendingPeek(QueueCursors):
    """The second message for which a cursor waits does not move the cursor."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        moved = self.__dict__.setdefault("moved", set())
        if cursor.CursorState is CursorState.WAIT_PEEK and cursor in moved:
            cursor.CursorState = (
                CursorState.READ
                if isinstance(cursor.MessagePositionReference, MessagePosition)
                else CursorState.WAIT_PEEK
            )
            return
        moved.add(cursor)
        super().on_message_available(cursor, message_position)


@fault("queue-manager-second-completed-peek-next-returns-io-timeout", breaks="MQDMPR-3.1.7.1.14-29", blind=True)
class QueueManagerSecondCompletedPeekNextReturnsIoTimeout(WaitingReads):
    """If a message ends the pending peeks of several cursors, only the first peek returns MQ_OK; the others return
    MQ_ERROR_IO_TIMEOUT.
    """

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        seen = self.__dict__.setdefault("seen", set())
        if reader.CursorReference is not None and not reader.DestructiveRead:
            if position in seen:
                self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
                return
            seen.add(position)
        super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-peek-at-unlocked-message-returns-already-received", breaks="MQDMPR-3.1.7.1.14-29", blind=True)
class QueueManagerPeekAtUnlockedMessageReturnsAlreadyReceived(MessagePositions):
    """If a locked message that becomes available ends a pending peek by a cursor, the peek returns
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.LOCKED:
            for reader in list_waiting_reads(position.QueueReference):
                if reader.CursorReference is not None and not reader.DestructiveRead:
                    self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED)
        super().unlock_message(position)
