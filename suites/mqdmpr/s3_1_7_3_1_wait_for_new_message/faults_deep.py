"""Faults of MS-MQDMPR 3.1.7.3.1 Wait For New Message that only special cases reveal: several waiting reads, and other
events at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.parts import fault, only_if
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-peek-by-cursor-with-timeout-zero-waits-a-second", breaks="MQDMPR-3.1.7.3.1-07")
class QueueManagerPeekByCursorWithTimeoutZeroWaitsASecond(Waiting):
    """A peek by a cursor with timeout zero waits for one second if there is no message."""

    @only_if(lambda part, *arguments, cursor=None, **named: cursor is not None or len(arguments) > 6)
    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        timeout_ms = 1_000 if timeout_ms == 0 and cursor is not None else timeout_ms
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-waiting-receive-by-cursor-not-destructive", breaks="MQDMPR-3.1.7.3.1-10")
class QueueManagerWaitingReceiveByCursorNotDestructive(Waiting):
    """The WaitingMessageReadOperation of a receive by a cursor has DestructiveRead False."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        destructive_read = destructive_read and cursor is None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-waiting-read-added-to-first-open-descriptor", breaks="MQDMPR-3.1.7.3.1-14")
class QueueManagerWaitingReadAddedToFirstOpenDescriptor(Waiting):
    """The queue manager adds every WaitingMessageReadOperation to the first OpenQueueDescriptor of the queue, even if
    the read uses a different descriptor.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and queue.OpenQueueDescriptorCollection:
            queue_desc = next(iter(queue.OpenQueueDescriptorCollection.values()))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-timer-of-second-waiting-read-not-started", breaks="MQDMPR-3.1.7.3.1-15")
class QueueManagerTimerOfSecondWaitingReadNotStarted(Waiting):
    """The queue manager starts no timer for a read that begins to wait while another read of the same
    OpenQueueDescriptor waits.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
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


@fault("queue-manager-purge-ends-waiting-reads", breaks="MQDMPR-3.1.7.3.1-18")
class QueueManagerPurgeEndsWaitingReads(Queues):
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
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)
        return super().purge(queue, token, done, failed)


@fault("queue-manager-cancelled-read-stays-in-collection", breaks="MQDMPR-3.1.7.3.1-25")
class QueueManagerCancelledReadStaysInCollection(Waiting):
    """The queue manager keeps the WaitingMessageReadOperation of a cancelled read."""

    @only_if(lambda part, reader, status: status is not Status.MQ_ERROR_IO_TIMEOUT)
    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().stop_reader(reader, status)
        reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("queue-manager-cancel-by-tag-ends-every-waiting-read", breaks="MQDMPR-3.1.7.3.1-18")
class QueueManagerCancelByTagEndsEveryWaitingRead(Waiting):
    """A cancellation by tag ends every read that waits at the queue, regardless of its tag."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        found = super().cancel_waiting_read(queue, tag, status)
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()) if found is Status.MQ_OK else ():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.stop_reader(reader, status)
        return found


@fault("queue-manager-unlocked-message-completes-no-waiting-read", breaks="MQDMPR-3.1.7.3.1-18", blind=True)
class QueueManagerUnlockedMessageCompletesNoWaitingRead(Positions):
    """A message that a reader returns, or that an abort unlocks, completes no waiting read."""

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is not MessagePositionState.LOCKED:
            super().unlock_message(position)
            return
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reset_search_start(position)
        self.qm.lifetimes.watch_received(position)


@fault("queue-manager-second-message-of-commit-completes-no-read", breaks="MQDMPR-3.1.7.3.1-21", blind=True)
class QueueManagerSecondMessageOfCommitCompletesNoRead(Waiting):
    """The second and each later message of a transaction complete no waiting read."""

    def release_readers(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TransactionIdentifier is None or message.FirstInTransaction:
            super().release_readers(position)


@fault("queue-manager-waiting-peek-gets-last-message", breaks="MQDMPR-3.1.7.3.1-23", blind=True)
class QueueManagerWaitingPeekGetsLastMessage(Waiting):
    """A waiting peek without a cursor gets the last message of the queue."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        earlier = position.QueueReference.MessagePositionList.Tail
        if reader.CursorReference is None and not reader.DestructiveRead and isinstance(earlier, MessagePosition):
            position = earlier
        super().satisfy_reader(reader, position)


@fault("queue-manager-read-timers-of-other-queues-stopped", breaks="MQDMPR-3.1.7.3.1-24", blind=True)
class QueueManagerReadTimersOfOtherQueuesStopped(Waiting):
    """A read that gets its message stops the timers of the reads that wait at other queues."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().satisfy_reader(reader, position)
        for number, other in self.qm.readers.items():
            if other.descriptor.QueueReference is not position.QueueReference:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, number))


@fault("queue-manager-waiting-read-of-closed-neighbour-ended", breaks="MQDMPR-3.1.7.3.1-18", blind=True)
class QueueManagerWaitingReadOfClosedNeighbourEnded(QueueOpening):
    """When one handle of a queue is closed, the queue manager ends the reads that wait through other handles of the
    queue.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else ():
            for reader in list(other.WaitingMessageReadOperationCollection):
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("queue-manager-expired-receive-of-transaction-returns-not-found", breaks="MQDMPR-3.1.7.3.1-20", blind=True)
class QueueManagerExpiredReceiveOfTransactionReturnsNotFound(Waiting):
    """A receive in a transaction returns MQ_ERROR_MESSAGE_NOT_FOUND when its timer expires."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.transaction is not None and status is Status.MQ_ERROR_IO_TIMEOUT:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        super().stop_reader(reader, status)


@fault("waiting-peek-ended-by-message-that-a-receive-took", breaks="MQDMPR-3.1.7.3.1-18")
class WaitingPeekEndedByMessageThatAReceiveTook(Waiting):
    """When a pending receive takes the message that arrived, the pending peeks of the queue end without a message."""

    def release_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        before = len(queue.MessagePositionList)
        super().release_readers(position)
        if before and self._find_taken(position):
            for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
                for reader in list(descriptor.WaitingMessageReadOperationCollection):
                    if not reader.DestructiveRead:
                        self.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _find_taken(self, position: MessagePosition) -> bool:
        return position.State.name != "AVAILABLE"


@fault("second-waiting-receive-gets-same-message", breaks="MQDMPR-3.1.7.3.1-21")
class SecondWaitingReceiveGetsSameMessage(Waiting):
    """When two messages arrive while two receives of one handle wait, only the first receive ends."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        taken: set[int] = getattr(self, "taken", set())
        if reader.descriptor.Handle in taken and reader.descriptor.WaitingMessageReadOperationCollection:
            return
        self.taken = taken | {reader.descriptor.Handle}
        super().satisfy_reader(reader, position)


@fault("timer-of-second-waiting-read-restarts-first", breaks="MQDMPR-3.1.7.3.1-15")
class TimerOfSecondWaitingReadRestartsFirst(Waiting):
    """A read that begins to wait restarts the timers of the earlier pending reads of its descriptor."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
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


@fault("waiting-transactional-read-timer-not-stopped", breaks="MQDMPR-3.1.7.3.1-24")
class WaitingTransactionalReadTimerNotStopped(Waiting):
    """When the timer of a read that already got its message expires, the queue manager ends the next pending read of
    the same handle.
    """

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
        running = self.qm.timers._running.get(key)
        super().satisfy_reader(reader, position)
        if running is not None:
            self.qm.timers.start(key, running.started_ms, running.due_ms - running.started_ms)

    def on_waiting_message_read_timer(self, number: int) -> None:
        if number in self.qm.readers:
            super().on_waiting_message_read_timer(number)
            return
        waiting = next(iter(self.qm.readers.values()), None)
        if waiting is not None:
            self.stop_reader(waiting, Status.MQ_ERROR_IO_TIMEOUT)
