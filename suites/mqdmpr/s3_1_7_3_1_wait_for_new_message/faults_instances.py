"""Faults that break rules of MS-MQDMPR 3.1.7.3.1 only for some reads, readers or causes."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-completed-peek-by-cursor-returns-timeout", breaks="MQDMPR-3.1.7.3.1-22")
class QueueManagerCompletedPeekByCursorReturnsTimeout(WaitingReads):
    """A pending peek by cursor that gets a message returns MQ_ERROR_IO_TIMEOUT."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader.CursorReference is not None and not reader.DestructiveRead:
            self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
        else:
            super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-second-peek-of-message-returns-timeout", breaks="MQDMPR-3.1.7.3.1-22")
class QueueManagerSecondPeekOfMessageReturnsTimeout(WaitingReads):
    """Of several pending peeks that get one message, only the first peek returns success."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        peeked: set[MessagePosition] = self.__dict__.setdefault("peeked", set())
        if not reader.DestructiveRead and position in peeked:
            self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
            return
        peeked.add(position)
        super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-completed-receive-of-transaction-returns-timeout", breaks="MQDMPR-3.1.7.3.1-22")
class QueueManagerCompletedReceiveOfTransactionReturnsTimeout(WaitingReads):
    """A pending receive in a transaction that gets a message returns MQ_ERROR_IO_TIMEOUT."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader.transaction is not None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
        else:
            super().pass_message_to_waiting_reader(reader, position)


@fault("queue-manager-second-read-with-timeout-zero-waits", breaks="MQDMPR-3.1.7.3.1-07")
class QueueManagerSecondReadWithTimeoutZeroWaits(WaitingReads):
    """A read with timeout zero waits if another read waits in the same queue."""

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
        if timeout_ms == 0 and queue is not None and self._count_waiting_reads(queue):
            timeout_ms = 60_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)

    def _count_waiting_reads(self, queue: Queue) -> int:
        return sum(
            len(one.WaitingMessageReadOperationCollection) for one in queue.OpenQueueDescriptorCollection.values()
        )


@fault("queue-manager-newest-waiting-peek-replaces-other-peeks", breaks="MQDMPR-3.1.7.3.1-14")
class QueueManagerNewestWaitingPeekReplacesOtherPeeks(WaitingReads):
    """The queue manager keeps only the newest waiting peek in the OpenQueueDescriptor."""

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
        for reader in list(queue_desc.WaitingMessageReadOperationCollection):
            if not destructive_read and not reader.DestructiveRead:
                self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-deleted-queue-leaves-second-read-waiting", breaks="MQDMPR-3.1.7.3.1-19")
class QueueManagerDeletedQueueLeavesSecondReadWaiting(WaitingReads):
    """A deletion of a queue ends only the first of the pending reads of the queue."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        queue = reader.descriptor.QueueReference
        ended: set[Queue | None] = self.__dict__.setdefault("ended", set())
        if status is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE and queue in ended:
            return
        ended.add(queue)
        super().end_wait_without_message(reader, status)
