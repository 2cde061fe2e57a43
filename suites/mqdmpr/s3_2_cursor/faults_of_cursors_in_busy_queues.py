"""Faults that break rules of MS-MQDMPR 3.2 Cursor in a queue with other cursors, other readers or locked messages."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


def _set_cursor_handle(cursor: Cursor, handle: int) -> None:
    cursors = cursor.OpenQueueDescriptorReference.CursorCollection
    del cursors[cursor.Handle]
    cursor.Handle = handle
    cursors[handle] = cursor


@fault("queue-manager-cursor-handle-of-other-queue-repeated", breaks="MQDMPR-3.2.7.1-05", blind=True)
class QueueManagerCursorHandleOfOtherQueueRepeated(QueueCursors):
    """The queue manager numbers the cursors of each queue from 1, so cursors of two queues have the same Handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        queue = queue_desc.QueueReference
        if cursor is not None and queue is not None:
            used = {h for one in queue.OpenQueueDescriptorCollection.values() for h in one.CursorCollection}
            used.discard(cursor.Handle)
            _set_cursor_handle(cursor, next(number for number in range(1, 100_000) if number not in used))
        return cursor


@fault("queue-manager-cursor-handle-of-remaining-cursor-repeated", breaks="MQDMPR-3.2.7.1-05", blind=True)
class QueueManagerCursorHandleOfRemainingCursorRepeated(QueueCursors):
    """After a cursor was closed, a new cursor of the queue manager gets the Handle of the newest open cursor."""

    last_open_cursor_count = 0

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            cursors = [one for each in self.qm.descriptors.values() for one in each.CursorCollection.values()]
            others = [one.Handle for one in cursors if one is not cursor]
            if others and len(others) < self.last_open_cursor_count:
                _set_cursor_handle(cursor, max(others))
            self.last_open_cursor_count = len(others) + 1
        return cursor


@fault("queue-manager-new-cursor-at-position-of-other-cursor", breaks="MQDMPR-3.2.7.1-07", blind=True)
class QueueManagerNewCursorAtPositionOfOtherCursor(QueueCursors):
    """The position of a new cursor is that of the newest other cursor with the same descriptor."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        others = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if cursor is not None and others and queue_desc.QueueReference is not None:
            cursor.MessagePositionReference = others[-1].MessagePositionReference
            queue_desc.QueueReference.MessagePositionList.hold(cursor.MessagePositionReference)
        return cursor


@fault("queue-manager-new-cursor-past-locked-messages", breaks="MQDMPR-3.2.7.1-07", blind=True)
class QueueManagerNewCursorPastLockedMessages(QueueCursors):
    """The position of a new cursor is past the locked messages at the start of the queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        queue = queue_desc.QueueReference
        for position in queue.MessagePositionList if cursor is not None and queue is not None else ():
            if position.State is not MessagePositionState.LOCKED:
                break
            assert cursor is not None
            assert queue is not None
            queue.MessagePositionList.hold(position)
            queue.MessagePositionList.release(cursor.MessagePositionReference)
            cursor.MessagePositionReference = position
        return cursor


@fault("queue-manager-cursor-state-stays-read-after-zero-timeout-peek-next", breaks="MQDMPR-3.2.7.3-15", blind=True)
class QueueManagerCursorStateStaysReadAfterZeroTimeoutPeekNext(WaitingReads):
    """A peek at the next message with timeout zero that finds no message leaves the cursor's state at Read."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        at_message = cursor is not None and not isinstance(cursor.MessagePositionReference, Boundary)
        if cursor is not None and at_message and timeout_ms == 0 and not destructive_read:
            cursor.CursorState = CursorState.READ
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-peek-next-after-received-message-keeps-cursor-state", breaks="MQDMPR-3.2.7.3-15", blind=True)
class QueueManagerPeekNextAfterReceivedMessageKeepsCursorState(QueueCursors):
    """A peek at the next message does not change the cursor's state if the message at the cursor was received."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before, at = cursor.CursorState, cursor.MessagePositionReference
        status, position = super().get_next_message_for_peek(cursor)
        received = not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED
        if status is CursorStatus.WAITING and received:
            cursor.CursorState = before
        return status, position


class _CursorReceiveDelayer(MessageReading):
    """Wait in some receives by a cursor with timeout zero; a subclass selects which."""

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        if cursor is not None and timeout_ms == 0 and self.does_receive_wait(queue_desc, cursor):
            timeout_ms = 600_000
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)

    def does_receive_wait(self, queue_desc: OpenQueueDescriptor, cursor: Cursor) -> bool:
        raise NotImplementedError


@fault("queue-manager-zero-timeout-cursor-receive-waits-beside-other-read", breaks="MQDMPR-3.2.7.4-02", blind=True)
class QueueManagerZeroTimeoutCursorReceiveWaitsBesideOtherRead(_CursorReceiveDelayer):
    """A receive by a cursor with timeout zero waits if another read waits for a message of the queue."""

    def does_receive_wait(self, queue_desc: OpenQueueDescriptor, cursor: Cursor) -> bool:
        return any(reader.descriptor.QueueReference is queue_desc.QueueReference for reader in self.qm.readers.values())


@fault("queue-manager-cursor-receive-with-timeout-zero-awaits-locked-message", breaks="MQDMPR-3.2.7.4-02", blind=True)
class QueueManagerCursorReceiveWithTimeoutZeroAwaitsLockedMessage(_CursorReceiveDelayer):
    """A receive by a cursor with timeout zero waits if the queue has only locked messages."""

    def does_receive_wait(self, queue_desc: OpenQueueDescriptor, cursor: Cursor) -> bool:
        queue = queue_desc.QueueReference
        states = [] if queue is None else [position.State for position in queue.MessagePositionList]
        return bool(states) and set(states) == {MessagePositionState.LOCKED}


class _FailedReceiveStatusReplacer(MessageReading):
    """End some failed receives by a cursor with timeout zero with a wrong status; a subclass selects which."""

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        changed = cursor is not None and timeout_ms == 0 and self.is_changed(cursor)

        def answer_with_timeout(status: Status, position: MessagePosition | None) -> None:
            missing = changed and status is Status.MQ_ERROR_MESSAGE_NOT_FOUND
            answered(Status.MQ_ERROR_IO_TIMEOUT if missing else status, position)

        super().dequeue_message(
            queue_desc, answer_with_timeout, now, timeout_ms, cursor, tag, two_phase_read, transaction
        )

    def is_changed(self, cursor: Cursor) -> bool:
        raise NotImplementedError


@fault("queue-manager-cursor-receive-of-locked-message-timed-out", breaks="MQDMPR-3.2.7.4-14", blind=True)
class QueueManagerCursorReceiveOfLockedMessageTimedOut(_FailedReceiveStatusReplacer):
    """A receive by a cursor with timeout zero fails with MQ_ERROR_IO_TIMEOUT if the queue has only locked messages."""

    def is_changed(self, cursor: Cursor) -> bool:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        return queue is not None and len(queue.MessagePositionList) > 0


@fault("queue-manager-cursor-receive-past-last-message-timed-out", breaks="MQDMPR-3.2.7.4-14", blind=True)
class QueueManagerCursorReceivePastLastMessageTimedOut(_FailedReceiveStatusReplacer):
    """A receive by a cursor past the last message with timeout zero fails with MQ_ERROR_IO_TIMEOUT."""

    def is_changed(self, cursor: Cursor) -> bool:
        return not isinstance(cursor.MessagePositionReference, Boundary)


class _CursorReceiveWaitOmitter(MessageReading):
    """Do not wait in some receives by a cursor; a subclass selects which."""

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        if cursor is not None and timeout_ms != 0 and self.is_wait_of_receive_omitted(cursor, timeout_ms):
            timeout_ms = 0
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)

    def is_wait_of_receive_omitted(self, cursor: Cursor, timeout_ms: int | None) -> bool:
        raise NotImplementedError


@fault("queue-manager-cursor-receive-past-last-message-does-not-wait", breaks="MQDMPR-3.2.7.4-17", blind=True)
class QueueManagerCursorReceivePastLastMessageDoesNotWait(_CursorReceiveWaitOmitter):
    """A receive by a cursor past the last message of its queue does not wait, although its timeout is not zero."""

    def is_wait_of_receive_omitted(self, cursor: Cursor, timeout_ms: int | None) -> bool:
        return not isinstance(cursor.MessagePositionReference, Boundary) and cursor.CursorState is not CursorState.READ


@fault("queue-manager-cursor-receive-with-timeout-below-second-does-not-wait", breaks="MQDMPR-3.2.7.4-17", blind=True)
class QueueManagerCursorReceiveWithTimeoutBelowSecondDoesNotWait(_CursorReceiveWaitOmitter):
    """A receive by a cursor does not wait if its timeout is shorter than one second."""

    def is_wait_of_receive_omitted(self, cursor: Cursor, timeout_ms: int | None) -> bool:
        return timeout_ms is not None and timeout_ms < 1_000


@fault("queue-manager-transactional-cursor-receive-takes-first-message", breaks="MQDMPR-3.2.7.4-27", blind=True)
class QueueManagerTransactionalCursorReceiveTakesFirstMessage(MessageReading):
    """A receive by a cursor in a transaction returns the first message of the queue, not the message at the cursor."""

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        if transaction is not None:
            cursor = None
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)


@fault("queue-manager-cursor-receive-at-last-message-takes-first-message", breaks="MQDMPR-3.2.7.4-27", blind=True)
class QueueManagerCursorReceiveAtLastMessageTakesFirstMessage(QueueCursors):
    """A receive by a cursor at the last message of its queue returns the first message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if position is None or queue is None or queue.MessagePositionList.Tail is not position:
            return status, position
        first = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
        return status, cast("MessagePosition", first)


class _CursorStateReadSetter(QueueCursors):
    """Set the state of some cursors to Read when a message completes their receive; a subclass selects which."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        changed = cursor.CursorState is CursorState.WAIT_RECEIVE and self.is_changed(cursor, message_position)
        super().on_message_available(cursor, message_position)
        if changed:
            cursor.CursorState = CursorState.READ

    def is_changed(self, cursor: Cursor, message_position: MessagePosition) -> bool:
        raise NotImplementedError


@fault("queue-manager-completed-receive-sets-one-of-several-cursors-to-read", breaks="MQDMPR-3.2.7.5-06", blind=True)
class QueueManagerCompletedReceiveSetsOneOfSeveralCursorsToRead(_CursorStateReadSetter):
    """A message that completes a receive by one of several cursors of a descriptor sets the cursor's state to READ."""

    def is_changed(self, cursor: Cursor, message_position: MessagePosition) -> bool:
        return len(cursor.OpenQueueDescriptorReference.CursorCollection) > 1


@fault("queue-manager-completed-receive-sets-moved-cursor-to-read", breaks="MQDMPR-3.2.7.5-06", blind=True)
class QueueManagerCompletedReceiveSetsMovedCursorToRead(_CursorStateReadSetter):
    """A message that completes a receive by a cursor that has passed a message sets the cursor's state to READ."""

    def is_changed(self, cursor: Cursor, message_position: MessagePosition) -> bool:
        return not isinstance(cursor.MessagePositionReference, Boundary)


@fault("queue-manager-cursor-stays-after-receive-without-message", breaks="MQDMPR-3.2.7.6-04", blind=True)
class QueueManagerCursorStaysAfterReceiveWithoutMessage(QueueCursors):
    """A cursor that is not before the first message does not move when its receive ends without a message."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        moved = not isinstance(cursor.MessagePositionReference, Boundary)
        if moved and cursor.CursorState is CursorState.WAIT_RECEIVE:
            cursor.CursorState = CursorState.UNREAD
        super().on_read_wait_expired(cursor)


@fault("queue-manager-cursor-stays-before-locked-after-empty-receive", breaks="MQDMPR-3.2.7.6-04", blind=True)
class QueueManagerCursorStaysBeforeLockedAfterEmptyReceive(QueueCursors):
    """The cursor of a receive that ends without a message does not move past messages that are locked."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        locked = queue is not None and any(
            one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList
        )
        if locked and cursor.CursorState is CursorState.WAIT_RECEIVE:
            cursor.CursorState = CursorState.UNREAD
        super().on_read_wait_expired(cursor)
