"""Faults of pending reads while messages are locked or other reads are pending, and faults in the events that end a
wait.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.neighbouring_reads import has_locked_message, list_waiting_reads
from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class ReadWaitArgumentChanger(WaitingReads):
    """A part of the queue manager that changes how some reads begin to wait; a subclass selects which."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool, timeout_ms: int | None
    ) -> int | None:
        return timeout_ms

    def change_tag_of_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, tag: Hashable | None
    ) -> Hashable:
        return tag

    def choose_descriptor_of_read(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor:
        return queue_desc

    def change_destructive_read(self, cursor: Cursor | None, destructive_read: bool) -> bool:
        return destructive_read

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
        super().wait_for_new_message(
            self.choose_descriptor_of_read(queue_desc),
            self.change_timeout(queue_desc, cursor, destructive_read, timeout_ms),
            self.change_destructive_read(cursor, destructive_read),
            answered,
            now,
            self.change_tag_of_read(queue_desc, cursor, tag),
            cursor,
            transaction,
        )


@fault("queue-manager-read-with-timeout-0-behind-locked-message-waits", breaks="MQDMPR-3.1.7.3.1-07", blind=True)
class QueueManagerReadWithTimeout0BehindLockedMessageWaits(ReadWaitArgumentChanger):
    """A read with timeout 0 waits if the queue has only locked messages."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool, timeout_ms: int | None
    ) -> int | None:
        return None if timeout_ms == 0 and has_locked_message(queue_desc) else timeout_ms


@fault("queue-manager-peek-by-cursor-with-timeout-0-beside-read-waits", breaks="MQDMPR-3.1.7.3.1-07", blind=True)
class QueueManagerPeekByCursorWithTimeout0BesideReadWaits(ReadWaitArgumentChanger):
    """A peek by a cursor with timeout 0 waits if another read of the handle is pending."""

    def change_timeout(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool, timeout_ms: int | None
    ) -> int | None:
        beside = cursor is not None and bool(queue_desc.WaitingMessageReadOperationCollection)
        return None if timeout_ms == 0 and beside else timeout_ms


@fault("queue-manager-tag-of-second-pending-read-is-tag-of-first", breaks="MQDMPR-3.1.7.3.1-10", blind=True)
class QueueManagerTagOfSecondPendingReadIsTagOfFirst(ReadWaitArgumentChanger):
    """The second pending read of a handle has the Tag of the first."""

    def change_tag_of_read(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, tag: Hashable | None
    ) -> Hashable:
        first = next(iter(queue_desc.WaitingMessageReadOperationCollection), None)
        return tag if first is None else first.Tag


@fault("queue-manager-marks-pending-cursor-peek-as-destructive-read", breaks="MQDMPR-3.1.7.3.1-10", blind=True)
class QueueManagerMarksPendingCursorPeekAsDestructiveRead(ReadWaitArgumentChanger):
    """The DestructiveRead of a pending peek by a cursor is True."""

    def change_destructive_read(self, cursor: Cursor | None, destructive_read: bool) -> bool:
        return destructive_read or cursor is not None


@fault("queue-manager-adds-pending-read-to-oldest-descriptor-of-queue", breaks="MQDMPR-3.1.7.3.1-14", blind=True)
class QueueManagerAddsPendingReadToOldestDescriptorOfQueue(ReadWaitArgumentChanger):
    """The queue manager adds a pending read to the oldest OpenQueueDescriptor of the queue."""

    def choose_descriptor_of_read(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor:
        queue = queue_desc.QueueReference
        return queue_desc if queue is None else next(iter(queue.OpenQueueDescriptorCollection.values()))


@fault("queue-manager-adds-pending-read-to-other-waiting-descriptor", breaks="MQDMPR-3.1.7.3.1-14", blind=True)
class QueueManagerAddsPendingReadToOtherWaitingDescriptor(ReadWaitArgumentChanger):
    """The queue manager adds a pending read to the OpenQueueDescriptor of the queue that already has a pending read."""

    def choose_descriptor_of_read(self, queue_desc: OpenQueueDescriptor) -> OpenQueueDescriptor:
        queue = queue_desc.QueueReference
        waiting = [] if queue is None else list_waiting_reads(queue)
        return waiting[0].descriptor if waiting else queue_desc


@fault("queue-manager-timer-of-pending-read-restarted-by-later-read", breaks="MQDMPR-3.1.7.3.1-15", blind=True)
class QueueManagerTimerOfPendingReadRestartedByLaterRead(WaitingReads):
    """When a read begins to wait, the queue manager restarts the timers of the pending reads of the queue."""

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
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        times = self.__dict__.setdefault("times", {})
        queue = queue_desc.QueueReference
        for one in [] if queue is None else list_waiting_reads(queue):
            duration = times.setdefault(one, timeout_ms)
            if duration:
                self.qm.timers.start(TimerKey(TimerName.WAITING_MESSAGE_READ, one.number), now.monotonic_ms, duration)


@fault("queue-manager-second-read-timer-counts-from-start-of-first-read", breaks="MQDMPR-3.1.7.3.1-15", blind=True)
class QueueManagerSecondReadTimerCountsFromStartOfFirstRead(WaitingReads):
    """The timer of the second pending read of a handle counts from the start of the first pending read."""

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
        starts = self.__dict__.setdefault("starts", {})
        first = next(iter(queue_desc.WaitingMessageReadOperationCollection), None)
        if first in starts and timeout_ms:
            timeout_ms = max(1, timeout_ms - (now.monotonic_ms - starts[first]))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for one in queue_desc.WaitingMessageReadOperationCollection:
            starts.setdefault(one, now.monotonic_ms)


@fault("queue-manager-cancellation-does-not-end-pending-cursor-peek", breaks="MQDMPR-3.1.7.3.1-19", blind=True)
class QueueManagerCancellationDoesNotEndPendingCursorPeek(WaitingReads):
    """The cancellation of a pending peek by a cursor does not end the peek."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for one in list_waiting_reads(queue):
            if one.Tag == tag and one.CursorReference is not None and not one.DestructiveRead:
                return Status.MQ_OK
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-second-cancelled-read-of-handle-goes-on", breaks="MQDMPR-3.1.7.3.1-19")
class QueueManagerSecondCancelledReadOfHandleGoesOn(WaitingReads):
    """The second cancellation of a pending read of a handle does not end the read."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        seen = self.__dict__.setdefault("seen", set())
        for one in list_waiting_reads(queue):
            if one.Tag == tag:
                if one.descriptor in seen:
                    return Status.MQ_OK
                seen.add(one.descriptor)
        return super().cancel_waiting_read(queue, tag, status)


@fault("queue-manager-closed-handle-ends-only-first-pending-read", breaks="MQDMPR-3.1.7.3.1-19", blind=True)
class QueueManagerClosedHandleEndsOnlyFirstPendingRead(QueueOpening):
    """When a handle is closed, the queue manager ends only the first pending read of the handle."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        for one in list(queue_desc.WaitingMessageReadOperationCollection)[1:]:
            del queue_desc.WaitingMessageReadOperationCollection[one]
        super().close_queue(queue_desc)


@fault("queue-manager-pending-read-of-journal-not-ended", breaks="MQDMPR-3.1.7.3.1-21", blind=True)
class QueueManagerPendingReadOfJournalNotEnded(WaitingReads):
    """A message that arrives in a journal or a dead-letter queue does not end a pending read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if position.QueueReference.QueueType is not QueueType.SYSTEM:
            super().pass_new_message_to_waiting_readers(position)


@fault("queue-manager-pending-read-not-ended-by-moved-message", breaks="MQDMPR-3.1.7.3.1-21", blind=True)
class QueueManagerPendingReadNotEndedByMovedMessage(MessagePositions):
    """A message that is moved into a queue does not end a pending read of the queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        opened, queue.OpenQueueDescriptorCollection = queue.OpenQueueDescriptorCollection, {}
        try:
            return super().move_message(position, queue)
        finally:
            queue.OpenQueueDescriptorCollection = opened


class PendingReadMessageReplacer(WaitingReads):
    """A part of the queue manager that passes the first message of the queue to some pending reads; a subclass selects
    which.
    """

    def is_message_of_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        raise NotImplementedError

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if self.is_message_of_read_replaced(reader):
            start = position.QueueReference.MessagePositionList.Start
            position = self.qm.message_search.seek_available(start, True) or position
        super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-pending-cursor-peek-returns-first-message-of-queue", breaks="MQDMPR-3.1.7.3.1-23", blind=True)
class QueueManagerPendingCursorPeekReturnsFirstMessageOfQueue(PendingReadMessageReplacer):
    """A pending peek by a cursor returns the first message of the queue instead of the message that arrived."""

    def is_message_of_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        return reader.CursorReference is not None and not reader.DestructiveRead


@fault("queue-manager-pending-cursor-receive-returns-first-message-of-queue", breaks="MQDMPR-3.1.7.3.1-23", blind=True)
class QueueManagerPendingCursorReceiveReturnsFirstMessageOfQueue(PendingReadMessageReplacer):
    """A pending receive by a cursor returns the first message of the queue instead of the message that arrived."""

    def is_message_of_read_replaced(self, reader: WaitingMessageReadOperation) -> bool:
        return reader.CursorReference is not None and reader.DestructiveRead


@fault("queue-manager-satisfied-read-by-cursor-stays-in-descriptor", breaks="MQDMPR-3.1.7.3.1-25", blind=True)
class QueueManagerSatisfiedReadByCursorStaysInDescriptor(WaitingReads):
    """A WaitingMessageReadOperation of a read by a cursor stays in the OpenQueueDescriptor when a message ends the
    read.
    """

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        if reader.CursorReference is not None:
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("queue-manager-cancelled-peek-stays-in-descriptor", breaks="MQDMPR-3.1.7.3.1-25", blind=True)
class QueueManagerCancelledPeekStaysInDescriptor(WaitingReads):
    """A WaitingMessageReadOperation of a peek stays in the OpenQueueDescriptor when the peek is cancelled."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(reader, status)
        if not reader.DestructiveRead and status is not Status.MQ_ERROR_IO_TIMEOUT:
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None
