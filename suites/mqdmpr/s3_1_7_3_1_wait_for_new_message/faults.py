"""Faults that break rules of MS-MQDMPR 3.1.7.3.1 Wait For New Message."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "read-with-timeout-0-waits",
    "MQDMPR-3.1.7.3.1-07",
    "The queue manager lets a read with timeout zero wait without limit.",
    change_step_arguments(WaitingReads.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None),
)


@fault("queue-manager-peek-by-cursor-with-timeout-zero-waits-a-second", breaks="MQDMPR-3.1.7.3.1-07")
class QueueManagerPeekByCursorWithTimeoutZeroWaitsASecond(WaitingReads):
    """A peek by a cursor with timeout zero waits for one second if there is no message."""

    @faulty_only_if(lambda part, *arguments, cursor=None, **named: cursor is not None or len(arguments) > 6)
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
        timeout_ms = 1_000 if timeout_ms == 0 and cursor is not None else timeout_ms
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


add(
    "pending-receive-stored-as-peek",
    "MQDMPR-3.1.7.3.1-10",
    "The queue manager stores a pending receive as a read that does not remove its message.",
    change_step_arguments(WaitingReads.wait_for_new_message, destructive_read=lambda given: False),
)


@fault("queue-manager-waiting-receive-by-cursor-not-destructive", breaks="MQDMPR-3.1.7.3.1-10")
class QueueManagerWaitingReceiveByCursorNotDestructive(WaitingReads):
    """The WaitingMessageReadOperation of a receive by a cursor has DestructiveRead False."""

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
        destructive_read = destructive_read and cursor is None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-waiting-read-added-to-first-open-descriptor", breaks="MQDMPR-3.1.7.3.1-14")
class QueueManagerWaitingReadAddedToFirstOpenDescriptor(WaitingReads):
    """The queue manager adds every WaitingMessageReadOperation to the first OpenQueueDescriptor of the queue, even if
    the read uses a different descriptor.
    """

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
        queue = queue_desc.QueueReference
        if queue is not None and queue.OpenQueueDescriptorCollection:
            queue_desc = next(iter(queue.OpenQueueDescriptorCollection.values()))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


add(
    "pending-read-timer-not-started",
    ("MQDMPR-3.1.7.3.1-15", "MQDMPR-3.1.7.3.1-19", "MQDMPR-3.1.7.3.4-03"),
    "The queue manager does not start the timer of a pending read, so the read waits without limit.",
    change_step_arguments(
        WaitingReads.wait_for_new_message, timeout_ms=lambda given: None if given.timeout_ms else given.timeout_ms
    ),
)


@fault("queue-manager-timer-of-second-waiting-read-not-started", breaks="MQDMPR-3.1.7.3.1-15")
class QueueManagerTimerOfSecondWaitingReadNotStarted(WaitingReads):
    """The queue manager starts no timer for a read that begins to wait while another read of the same
    OpenQueueDescriptor waits.
    """

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
        others = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in list(queue_desc.WaitingMessageReadOperationCollection) if others else ():
            if reader not in others:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


@fault("second-pending-read-restarts-timer-of-first-read", breaks="MQDMPR-3.1.7.3.1-15")
class SecondPendingReadRestartsTimerOfFirstRead(WaitingReads):
    """A read that begins to wait restarts the timers of the earlier pending reads of its descriptor."""

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
        earlier = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in earlier:
            key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
            if timeout_ms and self.qm.timers.is_running(key):
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)


@fault("queue-manager-purge-ends-waiting-reads", breaks="MQDMPR-3.1.7.3.1-18")
class QueueManagerPurgeEndsWaitingReads(QueueLifecycle):
    """A purge of a queue ends the reads that wait for a message of this queue."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
        return super().purge(queue, token, done, failed)


@fault("queue-manager-cancel-by-tag-ends-every-waiting-read", breaks="MQDMPR-3.1.7.3.1-18")
class QueueManagerCancelByTagEndsEveryWaitingRead(WaitingReads):
    """A cancellation by tag ends every read that waits at the queue, regardless of its tag."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        found = super().cancel_waiting_read(queue, tag, status)
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()) if found is Status.MQ_OK else ():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.end_wait_without_message(reader, status)
        return found


@fault("queue-manager-unlocked-message-completes-no-waiting-read", breaks="MQDMPR-3.1.7.3.1-18", blind=True)
class QueueManagerUnlockedMessageCompletesNoWaitingRead(MessagePositions):
    """A message that a reader returns, or that an abort unlocks, completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is not MessagePositionState.LOCKED:
            super().unlock_message(position)
            return
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reset_search_start(position)
        self.qm.message_lifetimes.start_time_to_be_received_timer(position)


@fault("queue-manager-closed-handle-ends-waiting-reads-of-other-handles", breaks="MQDMPR-3.1.7.3.1-18", blind=True)
class QueueManagerClosedHandleEndsWaitingReadsOfOtherHandles(QueueOpening):
    """When one handle of a queue is closed, the queue manager ends the reads that wait through other handles of the
    queue.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else ():
            for reader in list(other.WaitingMessageReadOperationCollection):
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("pending-peek-ends-empty-when-receive-takes-arriving-message", breaks="MQDMPR-3.1.7.3.1-18")
class PendingPeekEndsEmptyWhenReceiveTakesArrivingMessage(WaitingReads):
    """When a pending receive takes the message that arrived, the pending peeks of the queue end without a message."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        before = len(queue.MessagePositionList)
        super().pass_new_message_to_waiting_readers(position)
        if before and self._is_message_unavailable(position):
            for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
                for reader in list(descriptor.WaitingMessageReadOperationCollection):
                    if not reader.DestructiveRead:
                        self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _is_message_unavailable(self, position: MessagePosition) -> bool:
        return position.State.name != "AVAILABLE"


add(
    "expired-read-returns-status-cancelled",
    (
        "MQDMPR-3.1.7.1.10-35",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.14-33",
        "MQDMPR-3.1.7.1.15-35",
        "MQDMPR-3.1.7.1.15-55",
        "MQDMPR-3.1.7.3.1-19",
        "MQDMPR-3.1.7.3.1-20",
        "MQDMPR-3.1.7.3.5-03",
    ),
    "A pending read whose timer expires returns the status of a cancelled read.",
    change_step_arguments(
        WaitingReads.end_wait_without_message, status=lambda given: Status.MQ_ERROR_OPERATION_CANCELLED
    ),
)


@fault("queue-manager-expired-receive-of-transaction-returns-not-found", breaks="MQDMPR-3.1.7.3.1-20", blind=True)
class QueueManagerExpiredReceiveOfTransactionReturnsNotFound(WaitingReads):
    """A receive in a transaction returns MQ_ERROR_MESSAGE_NOT_FOUND when its timer expires."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.transaction is not None and status is Status.MQ_ERROR_IO_TIMEOUT:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        super().end_wait_without_message(reader, status)


@fault("queue-manager-second-message-of-commit-completes-no-read", breaks="MQDMPR-3.1.7.3.1-21", blind=True)
class QueueManagerSecondMessageOfCommitCompletesNoRead(WaitingReads):
    """The second and each later message of a transaction complete no waiting read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TransactionIdentifier is None or message.FirstInTransaction:
            super().pass_new_message_to_waiting_readers(position)


@fault("second-waiting-receive-not-completed", breaks="MQDMPR-3.1.7.3.1-21")
class SecondWaitingReceiveNotCompleted(WaitingReads):
    """When two messages arrive while two receives of one handle wait, only the first receive ends."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        taken: set[int] = getattr(self, "taken", set())
        if reader.descriptor.Handle in taken and reader.descriptor.WaitingMessageReadOperationCollection:
            return
        self.taken = taken | {reader.descriptor.Handle}
        super().pass_message_to_waiting_reader(reader, position)


@fault("pending-read-returns-first-message", breaks="MQDMPR-3.1.7.3.1-23")
class PendingReadReturnsFirstMessage(WaitingReads):
    """A pending read returns the first message of the queue instead of the message that arrived."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        first = position.QueueReference.MessagePositionList.Head
        super().pass_message_to_waiting_reader(reader, first if isinstance(first, MessagePosition) else position)


@fault("queue-manager-waiting-peek-gets-last-message", breaks="MQDMPR-3.1.7.3.1-23", blind=True)
class QueueManagerWaitingPeekGetsLastMessage(WaitingReads):
    """A waiting peek without a cursor gets the last message of the queue."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        earlier = position.QueueReference.MessagePositionList.Tail
        if reader.CursorReference is None and not reader.DestructiveRead and isinstance(earlier, MessagePosition):
            position = earlier
        super().pass_message_to_waiting_reader(reader, position)


@fault("timer-of-completed-read-keeps-running", breaks="MQDMPR-3.1.7.3.1-24")
class TimerOfCompletedReadKeepsRunning(WaitingReads):
    """The timer of a read that got its message keeps running, and ends a later pending read."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers.get(number) or next(iter(self.qm.readers.values()), None)
        if reader is not None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _remove_waiting_reader(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]


@fault("arrival-stops-timers-of-all-reads", breaks="MQDMPR-3.1.7.3.1-24")
class ArrivalStopsTimersOfAllReads(WaitingReads):
    """A message that completes a read stops the timers of all reads that wait at its queue."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
            for one in descriptor.WaitingMessageReadOperationCollection:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, one.number))
        super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-read-timers-of-other-queues-stopped", breaks="MQDMPR-3.1.7.3.1-24", blind=True)
class QueueManagerReadTimersOfOtherQueuesStopped(WaitingReads):
    """A read that gets its message stops the timers of the reads that wait at other queues."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        for number, other in self.qm.readers.items():
            if other.descriptor.QueueReference is not position.QueueReference:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, number))


@fault("timer-of-completed-read-ends-next-pending-read-of-handle", breaks="MQDMPR-3.1.7.3.1-24")
class TimerOfCompletedReadEndsNextPendingReadOfHandle(WaitingReads):
    """When the timer of a read that already got its message expires, the queue manager ends the next pending read of
    the same handle.
    """

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
        running = self.qm.timers._running.get(key)
        super().pass_message_to_waiting_reader(reader, position)
        if running is not None:
            self.qm.timers.start(key, running.started_ms, running.due_ms - running.started_ms)

    def on_waiting_message_read_timer(self, number: int) -> None:
        if number in self.qm.readers:
            super().on_waiting_message_read_timer(number)
            return
        waiting = next(iter(self.qm.readers.values()), None)
        if waiting is not None:
            self.end_wait_without_message(waiting, Status.MQ_ERROR_IO_TIMEOUT)


@fault("ended-read-stays-in-collection-of-waiting-reads", breaks="MQDMPR-3.1.7.3.1-25")
class EndedReadStaysInCollectionOfWaitingReads(WaitingReads):
    """The queue manager keeps the WaitingMessageReadOperation of a read that has ended."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.number in self.qm.readers:
            super().end_wait_without_message(reader, status)
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("cancelled-read-kept-in-collection", breaks="MQDMPR-3.1.7.3.1-25")
class CancelledReadKeptInCollection(WaitingReads):
    """A cancelled read stays in WaitingMessageReadOperationCollection."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        descriptors = queue.OpenQueueDescriptorCollection.values()
        readers = [one for each in descriptors for one in each.WaitingMessageReadOperationCollection if one.Tag == tag]
        result: Status = super().cancel_waiting_read(queue, tag, status)
        for reader in readers:
            reader.Tag = reader.CursorReference = None
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None
        return result


@fault("queue-manager-cancelled-read-stays-in-collection", breaks="MQDMPR-3.1.7.3.1-25")
class QueueManagerCancelledReadStaysInCollection(WaitingReads):
    """The queue manager keeps the WaitingMessageReadOperation of a cancelled read."""

    @faulty_only_if(lambda part, reader, status: status is not Status.MQ_ERROR_IO_TIMEOUT)
    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(reader, status)
        reader.descriptor.WaitingMessageReadOperationCollection[reader] = None
