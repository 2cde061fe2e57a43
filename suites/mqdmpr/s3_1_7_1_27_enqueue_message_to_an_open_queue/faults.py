"""Faults of MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier
from reference_qm.core.commands.commands import Commands
from reference_qm.core.errors import CommandError
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("message-to-one-queue-enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04")
class MessageToOneQueueEnqueuedTwice(Enqueueing):
    """The queue manager puts a message for a single remote queue into the outgoing queue twice."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if isinstance(queue, OutgoingQueue):
            super().put_message(queue, message, None, Result(), now)
            number = self.qm.numbering.assign_identifier()
            message = replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, number))
        done: Result | None = super().put_message(queue, message, token, result, now)
        return done


@fault("send-to-full-queue-reports-success", breaks="MQDMPR-3.1.7.1.27-08")
class SendToFullQueueReportsSuccess(Commands):
    """A send to a single queue succeeds although the queue has no room for the message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        try:
            done: Result | None = super().send_message(request, token, now)
        except CommandError:
            return Result({"message_id": f"{{{self.qm.adm.Identifier}}}\\0"})
        return done


@fault("send-to-local-queue-reports-failure-although-message-stored", breaks="MQDMPR-3.1.7.1.27-08")
class SendToLocalQueueReportsFailureAlthoughMessageStored(Commands):
    """A send to a single local queue fails although the queue stored the message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        done: Result | None = super().send_message(request, token, now)
        if done is not None and self.qm.destinations.find_local(request.to) is not None:
            raise CommandError("the queue has not accepted the message")
        return done


class _Several(Enqueueing):
    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if not descriptor.Multiple:
            status: EnqueueStatus = super().enqueue_to_open_queue(descriptor, message, now, transaction)
            return status
        return self.enqueue_copies(descriptor, message, now, transaction)

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        """Put a copy into each queue of a descriptor for several queues."""
        status: EnqueueStatus = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return status


@fault("send-to-several-queues-continues-after-refusal", breaks="MQDMPR-3.1.7.1.27-18")
class SendToSeveralQueuesContinuesAfterRefusal(_Several):
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
class SendToSeveralQueuesReportsSuccessDespiteRefusal(_Several):
    """A send to several queues succeeds although one of them did not store its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        super().enqueue_copies(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR


@fault("send-to-several-queues-reports-failure-although-messages-stored", breaks="MQDMPR-3.1.7.1.27-19")
class SendToSeveralQueuesReportsFailureAlthoughMessagesStored(_Several):
    """A send to several queues fails although each of them stored its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        status: EnqueueStatus = super().enqueue_copies(descriptor, message, now, transaction)
        return status or EnqueueStatus.QUEUE_QUOTA_EXCEEDED


@fault("copies-for-several-queues-list-only-own-queue", breaks="MQDMPR-3.1.7.1.27-10")
class CopiesForSeveralQueuesListOnlyOwnQueue(Enqueueing):
    """Each copy of a message to several queues lists only the queue to which it is sent."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            message = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("copies-for-several-queues-lose-label-except-first", breaks="MQDMPR-3.1.7.1.27-12")
class CopiesForSeveralQueuesLoseLabelExceptFirst(_Several):
    """Only the first copy of a message to several queues has the label."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        for number, single in enumerate(list(descriptor.OpenQueueDescriptorCollection)):
            alone = replace(descriptor, OpenQueueDescriptorCollection=[single])
            copy = replace(message, Label=message.Label if number == 0 else "")
            if status := super().enqueue_copies(alone, copy, now, transaction):
                return status
        return EnqueueStatus.NO_ERROR


@fault("copies-for-several-queues-all-name-first-queue", breaks="MQDMPR-3.1.7.1.27-13")
class CopiesForSeveralQueuesAllNameFirstQueue(Enqueueing):
    """Each copy of a message to several queues has the first queue as its destination."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            first = message.DestinationMultiQueueFormatName.partition(",")[0]
            message = replace(message, DestinationQueueFormatName=first)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("send-to-several-queues-omits-last-queue", breaks="MQDMPR-3.1.7.1.27-14")
class SendToSeveralQueuesOmitsLastQueue(_Several):
    """The queue manager enqueues no copy of a message for the last of several queues."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        but_one = list(descriptor.OpenQueueDescriptorCollection)[:-1]
        status: EnqueueStatus = super().enqueue_copies(
            replace(descriptor, OpenQueueDescriptorCollection=but_one), message, now, transaction
        )
        return status
