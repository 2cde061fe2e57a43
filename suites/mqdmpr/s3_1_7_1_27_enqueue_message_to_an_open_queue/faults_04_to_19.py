"""Faults that break the rules MQDMPR-3.1.7.1.27-04 and MQDMPR-3.1.7.1.27-19 for one kind of message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class _DuplicateMessageEnqueuer(MessageEnqueueing):
    """Enqueue some messages to a single queue twice; a subclass selects which."""

    def is_message_enqueued_twice(self, queue: Queue, message: Message) -> bool:
        """Return whether a message is enqueued twice."""
        return False

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if self.is_message_enqueued_twice(queue, message):
            number = self.qm.message_numbering.assign_message_ordinal()
            again = replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, number))
            super().put_message(queue, again, None, Result(), now)
        return super().put_message(queue, message, token, result, now)


@fault("queue-manager-message-to-local-queue-enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04", blind=True)
class QueueManagerMessageToLocalQueueEnqueuedTwice(_DuplicateMessageEnqueuer):
    """The queue manager enqueues a message to a local queue twice."""

    def is_message_enqueued_twice(self, queue: Queue, message: Message) -> bool:
        return not isinstance(queue, OutgoingQueue)


@fault("queue-manager-recoverable-message-enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04", blind=True)
class QueueManagerRecoverableMessageEnqueuedTwice(_DuplicateMessageEnqueuer):
    """The queue manager enqueues a recoverable message to a remote queue twice."""

    def is_message_enqueued_twice(self, queue: Queue, message: Message) -> bool:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        return recoverable and isinstance(queue, OutgoingQueue) and message.TransactionIdentifier is None


@fault("queue-manager-message-of-transaction-enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04", blind=True)
class QueueManagerMessageOfTransactionEnqueuedTwice(TransactionOperations):
    """The queue manager enqueues each message of a transaction twice."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        number = self.qm.message_numbering.assign_message_ordinal()
        again = replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, number))
        super().enqueue_in_transaction(transaction, queue, again)
        return super().enqueue_in_transaction(transaction, queue, message)


class _SendFailureReporter(MessageEnqueueing):
    """Report some sends to several queues as failed, although each queue has stored its copy; a subclass selects
    which.
    """

    def is_send_reported_as_failed(
        self, descriptor: OpenQueueDescriptor, message: Message, transaction: Transaction | None
    ) -> bool:
        """Return whether a successful send is reported as failed."""
        return False

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        status = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        if not status and descriptor.Multiple and self.is_send_reported_as_failed(descriptor, message, transaction):
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return status


@fault("queue-manager-send-to-several-in-transaction-reported-as-failed", breaks="MQDMPR-3.1.7.1.27-19", blind=True)
class QueueManagerSendToSeveralInTransactionReportedAsFailed(_SendFailureReporter):
    """The queue manager returns an error for a send to several queues in a transaction."""

    def is_send_reported_as_failed(
        self, descriptor: OpenQueueDescriptor, message: Message, transaction: Transaction | None
    ) -> bool:
        return transaction is not None


@fault("queue-manager-send-to-local-and-remote-queue-reported-as-failed", breaks="MQDMPR-3.1.7.1.27-19", blind=True)
class QueueManagerSendToLocalAndRemoteQueueReportedAsFailed(_SendFailureReporter):
    """The queue manager returns an error for a send to several queues if one of the queues is a remote queue."""

    def is_send_reported_as_failed(
        self, descriptor: OpenQueueDescriptor, message: Message, transaction: Transaction | None
    ) -> bool:
        return any(isinstance(one.QueueReference, OutgoingQueue) for one in descriptor.OpenQueueDescriptorCollection)


@fault("queue-manager-recoverable-send-to-several-queues-reported-as-failed", breaks="MQDMPR-3.1.7.1.27-19", blind=True)
class QueueManagerRecoverableSendToSeveralQueuesReportedAsFailed(_SendFailureReporter):
    """The queue manager returns an error for a send of a recoverable message to several queues."""

    def is_send_reported_as_failed(
        self, descriptor: OpenQueueDescriptor, message: Message, transaction: Transaction | None
    ) -> bool:
        return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and transaction is None
