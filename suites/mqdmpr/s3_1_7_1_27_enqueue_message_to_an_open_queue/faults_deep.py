"""Faults of MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue that only special cases reveal: later copies, and
transactions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.message import Message
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class LaterCopyChanged(Enqueueing):
    """Change the second and later copies of a message."""

    changes: Mapping[str, Any] = MappingProxyType({})

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        if not descriptor.Multiple:
            return super().enqueue_to_open_queue(descriptor, message, now, transaction)
        every = list(descriptor.OpenQueueDescriptorCollection)
        try:
            for number, single in enumerate(every):
                descriptor.OpenQueueDescriptorCollection[:] = [single]
                copy = self.change_copy(message, descriptor, every, number)
                if copy is not None:
                    status = super().enqueue_to_open_queue(descriptor, copy, now, transaction)
                    if status is not EnqueueStatus.NO_ERROR:
                        return status
        finally:
            descriptor.OpenQueueDescriptorCollection[:] = every
        return EnqueueStatus.NO_ERROR

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        """Return the copy with the given number before its destination is set, or None to omit the copy."""
        return replace(message, **self.changes) if number else message


@fault("sender-later-copy-without-admin-queue", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutAdminQueue(LaterCopyChanged):
    """The second and later copies of a message to several queues name no administration queue."""

    changes = MappingProxyType({"AdministrationQueueFormatName": None})


@fault("sender-later-copy-of-priority-3", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyOfPriority3(LaterCopyChanged):
    """The second and later copies of a message to several queues have the priority 3."""

    changes = MappingProxyType({"Priority": 3})


@fault("sender-later-copy-without-time-to-be-received", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutTimeToBeReceived(LaterCopyChanged):
    """The second and later copies of a message to several queues have an unlimited TimeToBeReceived."""

    changes = MappingProxyType({"TimeToBeReceived": 0xFFFFFFFF})


@fault("sender-later-copy-without-body", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutBody(LaterCopyChanged):
    """The third copy of a message to several queues has no body."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        return replace(message, Body=b"") if number > 1 else message


@fault("sender-later-copy-lists-remaining-queues", breaks="MQDMPR-3.1.7.1.27-10")
class SenderLaterCopyListsRemainingQueues(LaterCopyChanged):
    """A copy of a message to several queues lists only the queues for which no copy exists yet."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        descriptor.FormatName = ",".join(one.FormatName for one in every[number:])
        return message


@fault("sender-third-copy-not-enqueued", breaks="MQDMPR-3.1.7.1.27-14")
class SenderThirdCopyNotEnqueued(LaterCopyChanged):
    """The sender enqueues at most two copies of a message to several queues."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        return None if number > 1 else message


@fault("sender-second-local-copy-not-enqueued", breaks="MQDMPR-3.1.7.1.27-14")
class SenderSecondLocalCopyNotEnqueued(LaterCopyChanged):
    """When a message is sent to several local queues, the sender enqueues only the first copy."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        earlier = any(not isinstance(one.QueueReference, OutgoingQueue) for one in every[:number])
        local = not isinstance(every[number].QueueReference, OutgoingQueue)
        return None if local and earlier else message


@fault("queue-manager-send-in-transaction-to-full-queue-succeeds", breaks="MQDMPR-3.1.7.1.27-08")
class QueueManagerSendInTransactionToFullQueueSucceeds(Enqueueing):
    """If an application sends a message to a full queue in a transaction, the queue manager returns success."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        status = super().admit_message(queue, message, now)
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        return EnqueueStatus.NO_ERROR if own and queue.Transactional else status


@fault("sender-copies-continue-after-refusal-of-first", breaks="MQDMPR-3.1.7.1.27-18")
class SenderCopiesContinueAfterRefusalOfFirst(Enqueueing):
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


@fault("sender-local-copy-destination-lists-all-queues", breaks="MQDMPR-3.1.7.1.27-13")
class SenderLocalCopyDestinationListsAllQueues(Enqueueing):
    """When a message is sent to several queues, the destination of the copy for a local queue is the multiple-element
    format name of all queues.
    """

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName and not isinstance(queue, OutgoingQueue):
            message = replace(message, DestinationQueueFormatName=message.DestinationMultiQueueFormatName)
        return super()._enqueue_message(queue, message, now, transaction)


@fault("sender-copies-of-transaction-all-but-first-at-once", breaks="MQDMPR-3.1.7.1.27-14", blind=True)
class SenderCopiesOfTransactionAllButFirstAtOnce(Enqueueing):
    """When a message is sent to several queues in a transaction, its copies are enqueued before the commit."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple and transaction is not None:
            message = replace(message, TransactionIdentifier=self.qm.numbering.assign_transaction())
            transaction = None
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-copies-lose-application-tag", breaks="MQDMPR-3.1.7.1.27-12", blind=True)
class SenderCopiesLoseApplicationTag(Enqueueing):
    """The copies of a message to several queues have no application tag and no response queue."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple:
            message = replace(message, AppSpecific=0, ResponseQueueFormatName=None)
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-copies-are-express", breaks="MQDMPR-3.1.7.1.27-12", blind=True)
class SenderCopiesAreExpress(Enqueueing):
    """The copies of a message to several queues request no negative journaling and no trace."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple:
            message = replace(message, NegativeJournalingRequested=False, BodyType=0)
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-refusal-of-third-copy-ignored", breaks="MQDMPR-3.1.7.1.27-18", blind=True)
class SenderRefusalOfThirdCopyIgnored(LaterCopyChanged):
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


@fault("sender-copy-refused-in-transaction-succeeds", breaks="MQDMPR-3.1.7.1.27-18", blind=True)
class SenderCopyRefusedInTransactionSucceeds(Enqueueing):
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


@fault("sender-second-copy-has-no-response-queue", breaks="MQDMPR-3.1.7.1.27-12")
class SenderSecondCopyHasNoResponseQueue(Enqueueing):
    """When a message is addressed to several queues, only the first copy has the response queue."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        self.first = True
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None and not getattr(self, "first", True):
            message = replace(message, ResponseQueueFormatName=None)
        self.first = False
        return super()._enqueue_message(queue, message, now, transaction)


@fault("sender-local-copy-has-default-priority", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLocalCopyHasDefaultPriority(Enqueueing):
    """When a message is sent to several queues, the copy for a local queue has the default priority."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None and not isinstance(queue, OutgoingQueue):
            message = replace(message, Priority=3)
        return super()._enqueue_message(queue, message, now, transaction)


@fault("sender-copies-of-transaction-list-only-own-queue", breaks="MQDMPR-3.1.7.1.27-10")
class SenderCopiesOfTransactionListOnlyOwnQueue(Enqueueing):
    """When a message to several queues is sent in a transaction, each copy lists only its own queue."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None and transaction is not None:
            message = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
        return super()._enqueue_message(queue, message, now, transaction)


@fault("sender-copy-after-first-in-transaction-sent-outside", breaks="MQDMPR-3.1.7.1.27-14")
class SenderCopyAfterFirstInTransactionSentOutside(Enqueueing):
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


@fault("sender-error-of-last-copy-not-returned", breaks="MQDMPR-3.1.7.1.27-18")
class SenderErrorOfLastCopyNotReturned(Enqueueing):
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


@fault("sender-refusal-in-transaction-does-not-stop-later-copies", breaks="MQDMPR-3.1.7.1.27-18")
class SenderRefusalInTransactionDoesNotStopLaterCopies(Enqueueing):
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
