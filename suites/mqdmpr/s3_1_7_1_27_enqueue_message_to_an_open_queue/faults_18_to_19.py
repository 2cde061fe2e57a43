"""Faults that break the rules MQDMPR-3.1.7.1.27-18 to MQDMPR-3.1.7.1.27-19."""

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


@fault("send-to-several-queues-continues-after-refusal", breaks="MQDMPR-3.1.7.1.27-18")
class SendToSeveralQueuesContinuesAfterRefusal(CopyEnqueueingChanger):
    """When one of several queues does not store its copy of a message, the queue manager still enqueues the copies for
    the later queues.
    """

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        worst = EnqueueStatus.NO_ERROR
        for single in list(descriptor.OpenQueueDescriptorCollection):
            alone = replace(descriptor, OpenQueueDescriptorCollection=[single])
            worst = super().enqueue_copies(alone, message, now, transaction) or worst
        return worst


@fault("send-to-several-queues-reports-success-despite-refusal", breaks="MQDMPR-3.1.7.1.27-18")
class SendToSeveralQueuesReportsSuccessDespiteRefusal(CopyEnqueueingChanger):
    """A send to several queues succeeds although one of them did not store its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        super().enqueue_copies(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR


@fault("sender-copies-sent-after-first-queue-refused-its-copy", breaks="MQDMPR-3.1.7.1.27-18")
class SenderCopiesSentAfterFirstQueueRefusedItsCopy(MessageEnqueueing):
    """When the first of several queues does not store its copy of a message, the sender still sends copies to the other
    queues.
    """

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        every = descriptor.OpenQueueDescriptorCollection
        first = every[0].QueueReference if descriptor.Multiple and every else None
        if status is EnqueueStatus.NO_ERROR or first is None or isinstance(first, OutgoingQueue):
            return status
        if self.admit_message(first, message, now) is not EnqueueStatus.NO_ERROR:
            kept = every[:]
            del every[0]
            super().enqueue_to_open_queue(descriptor, message, now, transaction)
            every[:] = kept
        return status


@fault("sender-refusal-of-third-copy-ignored", breaks="MQDMPR-3.1.7.1.27-18", blind=True)
class SenderRefusalOfThirdCopyIgnored(LaterMessageCopyChanger):
    """When the third of several queues refuses its copy of a message, the send succeeds."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        if not descriptor.Multiple or len(descriptor.OpenQueueDescriptorCollection) < 3:
            return status
        last = descriptor.OpenQueueDescriptorCollection[-1].QueueReference
        refused = last is not None and not isinstance(last, OutgoingQueue) and self.admit_message(last, message, now)
        return EnqueueStatus.NO_ERROR if refused else status


@fault("sender-send-with-copy-refused-in-transaction-succeeds", breaks="MQDMPR-3.1.7.1.27-18", blind=True)
class SenderSendWithCopyRefusedInTransactionSucceeds(MessageEnqueueing):
    """When a send to several queues in a transaction exceeds the quota of one of the queues, the queue manager returns
    success.
    """

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR if descriptor.Multiple and transaction is not None else status


@fault("sender-error-of-last-copy-not-returned", breaks="MQDMPR-3.1.7.1.27-18")
class SenderErrorOfLastCopyNotReturned(MessageEnqueueing):
    """When only the last of several queues refuses its copy, the queue manager returns success."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        self.last = descriptor.OpenQueueDescriptorCollection[-1].FormatName if descriptor.Multiple else ""
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        status = super()._enqueue_message(queue, message, now, transaction)
        is_last = message.DestinationMultiQueueFormatName is not None and (
            getattr(self, "last", "") == message.DestinationQueueFormatName
        )
        return EnqueueStatus.NO_ERROR if is_last else status


@fault("sender-enqueues-copies-after-refused-transactional-copy", breaks="MQDMPR-3.1.7.1.27-18")
class SenderEnqueuesCopiesAfterRefusedTransactionalCopy(MessageEnqueueing):
    """When a queue refuses its copy of a message in a transaction, the queue manager still enqueues the later copies
    before it returns the error.
    """

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        self.failed = EnqueueStatus.NO_ERROR
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return self.failed if descriptor.Multiple and transaction is not None else status

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        status = super()._enqueue_message(queue, message, now, transaction)
        if message.DestinationMultiQueueFormatName is None or transaction is None:
            return status
        self.failed = self.failed or status
        return EnqueueStatus.NO_ERROR


@fault("send-to-several-queues-reports-failure-although-messages-stored", breaks="MQDMPR-3.1.7.1.27-19")
class SendToSeveralQueuesReportsFailureAlthoughMessagesStored(CopyEnqueueingChanger):
    """A send to several queues fails although each of them stored its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        status: EnqueueStatus = super().enqueue_copies(descriptor, message, now, transaction)
        return status or EnqueueStatus.QUEUE_QUOTA_EXCEEDED
