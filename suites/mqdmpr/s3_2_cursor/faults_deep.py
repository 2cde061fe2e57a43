"""Faults of MS-MQDMPR 3.2 Cursor that only special cases reveal: cursors of two queues, removed messages, and other
priorities.
"""

from __future__ import annotations

from harness.faults.parts import fault, only_if
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus


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


@fault("queue-manager-cursor-skips-message-after-removal-before-it", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerCursorSkipsMessageAfterRemovalBeforeIt(Cursors):
    """When another reader has received the message of a cursor, a peek at the next message by this cursor skips a
    message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        removed = not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED
        got = super().get_next_message_for_peek(cursor)
        if removed and got[0] is CursorStatus.SUCCEEDED:
            following = super().get_next_message_for_peek(cursor)
            return following if following[0] is CursorStatus.SUCCEEDED else got
        return got


@fault("queue-manager-cursor-read-after-waiting-receive", breaks="MQDMPR-3.2.7.5-06")
class QueueManagerCursorReadAfterWaitingReceive(Cursors):
    """A message that completes a pending receive by a cursor sets the cursor's state to READ."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        received = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().message_available(cursor, message_position)
        if received:
            cursor.CursorState = CursorState.READ


@fault("queue-manager-waiting-cursor-not-moved-back-to-higher-priority", breaks="MQDMPR-3.2.7.5-07")
class QueueManagerWaitingCursorNotMovedBackToHigherPriority(Cursors):
    """A message that completes a pending peek by a cursor does not move the cursor if the message has a higher priority
    than the cursor's last message.
    """

    @only_if(
        lambda part, cursor, message_position: (
            not isinstance(cursor.MessagePositionReference, Boundary)
            and cursor.MessagePositionReference.MessageReference.Priority < message_position.MessageReference.Priority
        )
    )
    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        cursor.CursorState = CursorState.READ if cursor.CursorState is CursorState.WAIT_PEEK else CursorState.UNREAD


@fault("queue-manager-next-peek-of-cursor-includes-priority-before-it", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerNextPeekOfCursorIncludesPriorityBeforeIt(Cursors):
    """A peek at the next message returns a message of higher priority that arrived after the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and not isinstance(at, Boundary):
            for one in at.QueueReference.MessagePositionList:
                if one.order > at.order and one.State is MessagePositionState.AVAILABLE:
                    at.QueueReference.MessagePositionList.hold(one)
                    at.QueueReference.MessagePositionList.release(at)
                    cursor.MessagePositionReference = one
                    return CursorStatus.SUCCEEDED, one
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-without-message-moves-cursor-to-start", breaks="MQDMPR-3.2.7.3-15")
class QueueManagerPeekNextWithoutMessageMovesCursorToStart(Cursors):
    """A peek at the next message that finds no message moves the cursor to the start of the queue while the
    peek waits.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        got = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            self.rewind(cursor)
        return got


@fault("queue-manager-peek-by-cursor-finds-message-of-transaction", breaks="MQDMPR-3.2.7.2-27")
class QueueManagerPeekByCursorFindsMessageOfTransaction(Cursors):
    """A peek by a cursor returns the cursor's message although a transaction has received it."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, found = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        if status is not CursorStatus.ALREADY_RECEIVED or not isinstance(position, MessagePosition):
            return status, found
        return (CursorStatus.SUCCEEDED, position) if position.State is MessagePositionState.LOCKED else (status, found)


@fault("queue-manager-new-cursor-placed-like-earlier-cursor-of-handle", breaks="MQDMPR-3.2.7.1-07", blind=True)
class QueueManagerNewCursorPlacedLikeEarlierCursorOfHandle(Cursors):
    """A new cursor starts at the position of the cursor that was opened before with the same handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        earlier = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if earlier and cursor is not None:
            self.message_available(cursor, earlier[-1].MessagePositionReference)  # type: ignore[arg-type]
        return cursor


@fault("queue-manager-cursors-of-handle-move-together", breaks="MQDMPR-3.2.7.3-20", blind=True)
class QueueManagerCursorsOfHandleMoveTogether(Cursors):
    """A peek at the next message moves all cursors of its handle."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_next_message_for_peek(cursor)
        if position is not None:
            for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
                if other is not cursor and other.CursorState is CursorState.READ:
                    self.message_available(other, position)
        return status, position


@fault("queue-manager-cursor-of-moved-message-follows-it", breaks="MQDMPR-3.2.7.2-27", blind=True)
class QueueManagerCursorOfMovedMessageFollowsIt(Cursors):
    """When the message of a cursor was moved to a subqueue, a peek by the cursor returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if cursor.CursorState is CursorState.READ and queue is not None and queue.SubqueueCollection:
            cursor.CursorState = CursorState.UNREAD
        return super().get_message_for_peek(cursor)


@fault("cursor-peek-at-unlocked-message-refused", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class CursorPeekAtUnlockedMessageRefused(Cursors):
    """A second peek by a cursor at a message with a priority other than 3 is refused."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        was_read = cursor.CursorState is CursorState.READ
        status, position = super().get_message_for_peek(cursor)
        if was_read and position is not None and position.MessageReference.Priority > 3:
            return CursorStatus.ALREADY_RECEIVED, None
        return status, position


@fault("cursor-second-receive-starts-at-front", breaks="MQDMPR-3.2.7.4-07")
class CursorSecondReceiveStartsAtFront(Cursors):
    """After a receive by a cursor, the next receive by the cursor searches from the start of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[1] is not None:
            self.rewind(cursor)
        return got


@fault("cursor-state-waiting-shared-by-cursors-of-handle", breaks="MQDMPR-3.2.7.5-06")
class CursorStateWaitingSharedByCursorsOfHandle(Cursors):
    """A message that completes a pending receive by a cursor sets all cursors of the handle to UNREAD."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        receives = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().message_available(cursor, message_position)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values() if receives else ():
            other.CursorState = CursorState.UNREAD


@fault("cursor-peek-next-skips-message-of-higher-priority-behind", breaks="MQDMPR-3.2.7.3-09")
class CursorPeekNextSkipsMessageOfHigherPriorityBehind(Cursors):
    """A peek at the next message finds only messages of the priority of the current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before, state = cursor.MessagePositionReference, cursor.CursorState
        got = super().get_next_message_for_peek(cursor)
        current = getattr(before, "MessageReference", None)
        if got[1] is not None and current is not None and got[1].MessageReference.Priority != current.Priority:
            cursor.MessagePositionReference, cursor.CursorState = before, state
            return CursorStatus.WAITING, None
        return got


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


@fault("cursor-timed-out-receive-moves-to-start", breaks="MQDMPR-3.2.7.6-04")
class CursorTimedOutReceiveMovesToStart(Cursors):
    """When a pending receive by a cursor ends without a message, the cursor moves to the start of the queue."""

    def wait_expired(self, cursor: Cursor) -> None:
        waited = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().wait_expired(cursor)
        if waited:
            self.rewind(cursor)


@fault("cursor-receive-after-peek-next-takes-peeked-before", breaks="MQDMPR-3.2.7.4-27")
class CursorReceiveAfterPeekNextTakesPeekedBefore(Cursors):
    """After two peeks at the next message by a cursor, a receive by this cursor takes the message before the current
    message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.MessagePositionReference
        got = super().get_next_message_for_peek(cursor)
        steps = getattr(self, "steps", {})
        count, _ = steps.get(cursor.Handle, (0, None))
        self.steps = steps | {cursor.Handle: (count + 1, before)}
        return got

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        count, before = getattr(self, "steps", {}).get(cursor.Handle, (0, None))
        if cursor.CursorState is CursorState.READ and count == 2 and before is not None:
            queue = cursor.OpenQueueDescriptorReference.QueueReference
            if queue is not None:
                queue.MessagePositionList.hold(before)
                queue.MessagePositionList.release(cursor.MessagePositionReference)
            cursor.MessagePositionReference = before
        return super().get_next_message_for_dequeue(cursor, no_wait)
