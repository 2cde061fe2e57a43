"""Faults that break the rules MQDMPR-3.1.7.1.27-13 to MQDMPR-3.1.7.1.27-14."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_27_enqueue_message_to_an_open_queue.fault_steps import (
    CopyEnqueueingChanger,
    LaterMessageCopyChanger,
)


@fault("copies-for-several-queues-all-name-first-queue", breaks="MQDMPR-3.1.7.1.27-13")
class CopiesForSeveralQueuesAllNameFirstQueue(MessageEnqueueing):
    """Each copy of a message to several queues has the first queue as its destination."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            first = message.DestinationMultiQueueFormatName.partition(",")[0]
            message = replace(message, DestinationQueueFormatName=first)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("sender-local-copy-destination-lists-all-queues", breaks="MQDMPR-3.1.7.1.27-13")
class SenderLocalCopyDestinationListsAllQueues(MessageEnqueueing):
    """When a message is sent to several queues, the destination of the copy for a local queue is the multiple-element
    format name of all queues.
    """

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName and not isinstance(queue, OutgoingQueue):
            message = replace(message, DestinationQueueFormatName=message.DestinationMultiQueueFormatName)
        return super()._enqueue_message(queue, message, now, transaction)


@fault("send-to-several-queues-omits-last-queue", breaks="MQDMPR-3.1.7.1.27-14")
class SendToSeveralQueuesOmitsLastQueue(CopyEnqueueingChanger):
    """The queue manager enqueues no copy of a message for the last of several queues."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        but_one = list(descriptor.OpenQueueDescriptorCollection)[:-1]
        status: EnqueueStatus = super().enqueue_copies(
            replace(descriptor, OpenQueueDescriptorCollection=but_one), message, now, transaction
        )
        return status


@fault("sender-third-copy-not-enqueued", breaks="MQDMPR-3.1.7.1.27-14")
class SenderThirdCopyNotEnqueued(LaterMessageCopyChanger):
    """The sender enqueues at most two copies of a message to several queues."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        return None if number > 1 else message


@fault("sender-second-local-copy-not-enqueued", breaks="MQDMPR-3.1.7.1.27-14")
class SenderSecondLocalCopyNotEnqueued(LaterMessageCopyChanger):
    """When a message is sent to several local queues, the sender enqueues only the first copy."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        earlier = any(not isinstance(one.QueueReference, OutgoingQueue) for one in every[:number])
        local = not isinstance(every[number].QueueReference, OutgoingQueue)
        return None if local and earlier else message


@fault("sender-copies-of-transaction-enqueued-before-commit", breaks="MQDMPR-3.1.7.1.27-14", blind=True)
class SenderCopiesOfTransactionEnqueuedBeforeCommit(MessageEnqueueing):
    """When a message is sent to several queues in a transaction, its copies are enqueued before the commit."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple and transaction is not None:
            message = replace(message, TransactionIdentifier=self.qm.message_numbering.assign_transaction_identifier())
            transaction = None
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-enqueues-only-first-transactional-copy", breaks="MQDMPR-3.1.7.1.27-14")
class SenderEnqueuesOnlyFirstTransactionalCopy(MessageEnqueueing):
    """When a message to several queues is sent in a transaction, only the first copy is enqueued."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        self.copies = 0
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        self.copies = getattr(self, "copies", 0) + 1
        if message.DestinationMultiQueueFormatName is not None and transaction is not None and self.copies > 1:
            return EnqueueStatus.NO_ERROR
        return super()._enqueue_message(queue, message, now, transaction)
