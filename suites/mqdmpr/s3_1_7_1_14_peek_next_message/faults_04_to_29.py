"""Faults that break the rules MQDMPR-3.1.7.1.14-04 to MQDMPR-3.1.7.1.14-29."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import GivenStepArguments, change_step_arguments, replace_step_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now


@fault("queue-manager-peek-next-in-deleted-queue-returns-illegal-cursor-action", breaks="MQDMPR-3.1.7.1.14-04")
class QueueManagerPeekNextInDeletedQueueReturnsIllegalCursorAction(MessageReading):
    """A peek at the next message by a cursor that has read no message returns MQ_ERROR_ILLEGAL_CURSOR_ACTION although
    the queue was deleted.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor.CursorState is CursorState.UNREAD:
            answered(Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION, None)
            return
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


def _get_first_cursor(given: GivenStepArguments) -> Cursor:
    cursors = (one for opened in given.qm.descriptors.values() for one in opened.CursorCollection.values())
    return next(cursors, given.cursor)


add(
    "peek-next-uses-first-cursor",
    "MQDMPR-3.1.7.1.14-06",
    "A peek at the next message uses the cursor that was opened first, even if that is a cursor of a different queue.",
    change_step_arguments(
        MessageReading.peek_next_message,
        queue_desc=lambda given: _get_first_cursor(given).OpenQueueDescriptorReference,
        cursor=lambda given: _get_first_cursor(given),
    ),
)


ONE_DAY_MS = 86_400_000


@fault("queue-manager-peek-next-without-timeout-ends-after-a-day", breaks="MQDMPR-3.1.7.1.14-07")
class QueueManagerPeekNextWithoutTimeoutEndsAfterADay(MessageReading):
    """A peek at the next message without a timeout ends after a day."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        timeout_ms = ONE_DAY_MS if timeout_ms is None else timeout_ms
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("pending-peek-next-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.14-07")
class PendingPeekNextWithoutTimeoutWaitsOneMinute(MessageReading):
    """A peek at the next message without a timeout ends after one minute."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        super().peek_next_message(queue_desc, answered, now, cursor, 60_000 if timeout_ms is None else timeout_ms, tag)


@fault("peek-next-returns-current-message", breaks=("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.1.7.1.14-10"))
class PeekNextReturnsCurrentMessage(QueueCursors):
    """A peek at the next message returns the current message of the cursor."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.CursorState is CursorState.READ:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-before-locked-message-waits", breaks="MQDMPR-3.1.7.1.14-08")
class QueueManagerPeekNextBeforeLockedMessageWaits(QueueCursors):
    """A peek at the next message waits if the message after the cursor's message is locked, although a later message is
    available.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        if not isinstance(at, Boundary) and at.State is MessagePositionState.LOCKED:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-after-removed-message-starts-at-queue-start", breaks="MQDMPR-3.1.7.1.14-10")
class QueueManagerPeekNextAfterRemovedMessageStartsAtQueueStart(QueueCursors):
    """A peek at the next message returns the first message of the queue if the cursor's message was removed."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        if not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED:
            self.move_cursor_to_start(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("peek-next-of-received-message-begins-at-start-of-queue", breaks="MQDMPR-3.1.7.1.14-10")
class PeekNextOfReceivedMessageBeginsAtStartOfQueue(QueueCursors):
    """A peek at the next message returns the first message when another reader has received the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        position = cursor.MessagePositionReference
        if not isinstance(position, Boundary) and position.State is MessagePositionState.DELETED:
            self.move_cursor_to_start(cursor)
        return super().get_next_message_for_peek(cursor)


add(
    "successful-peek-next-returns-status-illegal-action",
    "MQDMPR-3.1.7.1.14-11",
    "A peek at the next message returns its message with MQ_ERROR_ILLEGAL_CURSOR_ACTION.",
    replace_step_status(MessageReading.peek_next_message, Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION),
)


@fault("peek-next-directly-after-receive-by-same-cursor-succeeds", breaks="MQDMPR-3.1.7.1.14-13")
class PeekNextDirectlyAfterReceiveBySameCursorSucceeds(QueueCursors):
    """A peek at the next message succeeds after a receive by the same cursor, although the cursor must read a message
    first.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if not isinstance(cursor.MessagePositionReference, Boundary):
            return self._seek_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("peek-next-of-new-cursor-returns-not-found", breaks="MQDMPR-3.1.7.1.14-14")
class PeekNextOfNewCursorReturnsNotFound(QueueCursors):
    """A peek at the next message by a cursor that has read no message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super().get_next_message_for_peek(cursor)
        illegal = status is CursorStatus.ILLEGAL_CURSOR_ACTION
        return (CursorStatus.NOT_FOUND, None) if illegal else (status, position)


@fault("queue-manager-peek-next-after-receive-by-cursor-allowed", breaks="MQDMPR-3.1.7.1.14-14")
class QueueManagerPeekNextAfterReceiveByCursorAllowed(QueueCursors):
    """A peek at the next message by a cursor that has just received its message succeeds."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.CursorState is CursorState.UNREAD and not isinstance(cursor.MessagePositionReference, Boundary):
            cursor.CursorState = CursorState.READ
        return super().get_next_message_for_peek(cursor)


@fault("peek-next-after-receive-by-cursor-returns-already-received", breaks="MQDMPR-3.1.7.1.14-14")
class PeekNextAfterReceiveByCursorReturnsAlreadyReceived(QueueCursors):
    """A peek at the next message after a receive by the same cursor returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got = super().get_next_message_for_peek(cursor)
        moved = not isinstance(cursor.MessagePositionReference, Boundary)
        return (CursorStatus.ALREADY_RECEIVED, None) if moved and got[0] is CursorStatus.ILLEGAL_CURSOR_ACTION else got


@fault("second-pending-peek-next-of-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.14-16")
class SecondPendingPeekNextOfCursorDoesNotWait(MessageReading):
    """When the wait of a cursor for the next message has expired, a second peek at the next message by this cursor ends
    without waiting.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        again = cursor.CursorState is CursorState.WAIT_PEEK
        super().peek_next_message(queue_desc, answered, now, cursor, 0 if again else timeout_ms, tag)


@fault("queue-manager-peek-next-timeout-truncated-to-16-bits", breaks="MQDMPR-3.1.7.1.14-17")
class QueueManagerPeekNextTimeoutTruncatedTo16Bits(MessageReading):
    """The queue manager uses only the low 16 bits of the timeout in milliseconds of a peek at the next message."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        timeout_ms = None if timeout_ms is None else timeout_ms & 0xFFFF
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("message-does-not-move-cursor-of-its-second-pending-peek-next", breaks="MQDMPR-3.1.7.1.14-25")
class MessageDoesNotMoveCursorOfItsSecondPendingPeekNext(QueueCursors):
    """The cursor of a pending peek at the next message moves to the arriving message only the first time that a peek of
    this kind waits.
    """

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        before = cursor.MessagePositionReference
        peeks = cursor.CursorState is CursorState.WAIT_PEEK and not isinstance(before, Boundary)
        if peeks and before.Previous is not None and not isinstance(before.Previous, Boundary):
            cursor.CursorState = CursorState.READ
        else:
            super().on_message_available(cursor, message_position)


@fault("arriving-message-completes-one-peek-only", breaks=("MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.15-29"))
class ArrivingMessageCompletesOnePeekOnly(WaitingReads):
    """An arriving message completes only the first pending read, even if that read is a peek, which does not remove the
    message.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                found = self._find_message_for_reader(reader, position)
                if found is not None:
                    self.pass_message_to_waiting_reader(reader, found)
                    return


@fault("queue-manager-arriving-message-completes-first-peek-next-only", breaks="MQDMPR-3.1.7.1.14-27")
class QueueManagerArrivingMessageCompletesFirstPeekNextOnly(WaitingReads):
    """A message that completes a pending peek at the next message completes no other peek at the next message."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        descriptors = position.QueueReference.OpenQueueDescriptorCollection.values()
        peeks = [
            (descriptor, one)
            for descriptor in descriptors
            for one in descriptor.WaitingMessageReadOperationCollection
            if one.CursorReference is not None and not one.DestructiveRead
        ]
        for descriptor, one in peeks[1:]:
            del descriptor.WaitingMessageReadOperationCollection[one]
        super().pass_new_message_to_waiting_readers(position)
        for descriptor, one in peeks[1:]:
            descriptor.WaitingMessageReadOperationCollection[one] = None


@fault("message-of-pending-peek-next-does-not-complete-second-peek", breaks="MQDMPR-3.1.7.1.14-27")
class MessageOfPendingPeekNextDoesNotCompleteSecondPeek(WaitingReads):
    """An arriving message completes only one pending peek of each handle; the other peeks continue to wait."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            peeked = False
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers or (peeked and not reader.DestructiveRead):
                    continue
                found = self._find_message_for_reader(reader, position)
                if found is None:
                    return
                peeked = peeked or not reader.DestructiveRead
                self.pass_message_to_waiting_reader(reader, found)


@fault("queue-manager-peek-next-after-removed-message-returns-first-message", breaks="MQDMPR-3.1.7.1.14-08", blind=True)
class QueueManagerPeekNextAfterRemovedMessageReturnsFirstMessage(MessageReading):
    """If the message at a cursor was removed from the queue, a peek at the next message returns the first message of
    the queue.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        at = cursor.MessagePositionReference
        if isinstance(at, MessagePosition) and at.State is MessagePositionState.DELETED:
            self.qm.queue_cursors.move_cursor_to_start(cursor)
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("queue-manager-pending-peek-next-fails-for-urgent-message", breaks="MQDMPR-3.1.7.1.14-29", blind=True)
class QueueManagerPendingPeekNextFailsForUrgentMessage(MessageReading):
    """A pending peek at the next message returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED if the message that arrives has a
    higher priority than the message at the cursor.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        at, pending = cursor.MessagePositionReference, False

        def refuse_urgent_message(status: Status, position: MessagePosition | None) -> None:
            urgent = (
                position is not None
                and isinstance(at, MessagePosition)
                and position.MessageReference.Priority > at.MessageReference.Priority
            )
            if pending and urgent:
                answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
            else:
                answered(status, position)

        super().peek_next_message(queue_desc, refuse_urgent_message, now, cursor, timeout_ms, tag)
        pending = True


def _is_pending_peek_next(reader: WaitingMessageReadOperation) -> bool:
    cursor = reader.CursorReference
    return (
        not reader.DestructiveRead and cursor is not None and not isinstance(cursor.MessagePositionReference, Boundary)
    )


@fault("queue-manager-completed-peek-next-leaves-other-handles-waiting", breaks="MQDMPR-3.1.7.1.14-27", blind=True)
class QueueManagerCompletedPeekNextLeavesOtherHandlesWaiting(WaitingReads):
    """A message that completes a pending peek at the next message completes no pending read of another handle."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            peeked_next = False
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_message_for_reader(reader, position)
                    if found is None:
                        return
                    peeked_next = peeked_next or _is_pending_peek_next(reader)
                    self.pass_message_to_waiting_reader(reader, found)
            if peeked_next:
                return
