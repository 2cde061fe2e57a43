"""Faults that break the rules MQDMPR-3.1.7.1.27-04 to MQDMPR-3.1.7.1.27-12."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_7_1_27_enqueue_message_to_an_open_queue.fault_steps import (
    CopyEnqueueingChanger,
    LaterMessageCopyChanger,
)


@fault("message-to-one-queue-enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04")
class MessageToOneQueueEnqueuedTwice(MessageEnqueueing):
    """The queue manager puts a message for a single remote queue into the outgoing queue twice."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if isinstance(queue, OutgoingQueue):
            super().put_message(queue, message, None, Result(), now)
            number = self.qm.message_numbering.assign_message_ordinal()
            message = replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, number))
        done: Result | None = super().put_message(queue, message, token, result, now)
        return done


@fault("send-to-full-queue-reports-success", breaks="MQDMPR-3.1.7.1.27-08")
class SendToFullQueueReportsSuccess(HigherLayerCommands):
    """A send to a single queue succeeds although the queue has no room for the message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        try:
            done: Result | None = super().send_message(request, token, now)
        except CommandError:
            return Result({"message_id": f"{{{self.qm.adm.Identifier}}}\\0"})
        return done


@fault("send-to-local-queue-reports-failure-although-message-stored", breaks="MQDMPR-3.1.7.1.27-08")
class SendToLocalQueueReportsFailureAlthoughMessageStored(HigherLayerCommands):
    """A send to a single local queue fails although the queue stored the message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        done: Result | None = super().send_message(request, token, now)
        if done is not None and self.qm.destination_resolving.find_local_queue(request.to) is not None:
            raise CommandError("the queue did not accept the message")
        return done


@fault("queue-manager-send-in-transaction-to-full-queue-succeeds", breaks="MQDMPR-3.1.7.1.27-08")
class QueueManagerSendInTransactionToFullQueueSucceeds(MessageEnqueueing):
    """If an application sends a message to a full queue in a transaction, the queue manager returns success."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        status = super().admit_message(queue, message, now)
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        return EnqueueStatus.NO_ERROR if own and queue.Transactional else status


@fault("sender-copy-for-several-queues-lists-only-its-own-destination", breaks="MQDMPR-3.1.7.1.27-10")
class SenderCopyForSeveralQueuesListsOnlyItsOwnDestination(MessageEnqueueing):
    """Each copy of a message to several queues lists only the queue to which it is sent."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            message = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("sender-copy-lists-only-destinations-without-earlier-copy", breaks="MQDMPR-3.1.7.1.27-10")
class SenderCopyListsOnlyDestinationsWithoutEarlierCopy(LaterMessageCopyChanger):
    """A copy of a message to several queues lists only the queues for which no copy exists yet."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        descriptor.FormatName = ",".join(one.FormatName for one in every[number:])
        return message


@fault("sender-transactional-copy-lists-only-its-own-destination", breaks="MQDMPR-3.1.7.1.27-10")
class SenderTransactionalCopyListsOnlyItsOwnDestination(MessageEnqueueing):
    """When a message to several queues is sent in a transaction, each copy lists only its own queue."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None and transaction is not None:
            message = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
        return super()._enqueue_message(queue, message, now, transaction)


@fault("copies-for-several-queues-lose-label-except-first", breaks="MQDMPR-3.1.7.1.27-12")
class CopiesForSeveralQueuesLoseLabelExceptFirst(CopyEnqueueingChanger):
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


@fault("sender-later-copy-without-admin-queue", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutAdminQueue(LaterMessageCopyChanger):
    """The second and later copies of a message to several queues name no administration queue."""

    changed_attributes = MappingProxyType({"AdministrationQueueFormatName": None})


@fault("sender-later-copy-has-priority-3", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyHasPriority3(LaterMessageCopyChanger):
    """The second and later copies of a message to several queues have the priority 3."""

    changed_attributes = MappingProxyType({"Priority": 3})


@fault("sender-later-copy-without-time-to-be-received", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutTimeToBeReceived(LaterMessageCopyChanger):
    """The second and later copies of a message to several queues have an unlimited TimeToBeReceived."""

    changed_attributes = MappingProxyType({"TimeToBeReceived": 0xFFFFFFFF})


@fault("sender-later-copy-without-body", breaks="MQDMPR-3.1.7.1.27-12")
class SenderLaterCopyWithoutBody(LaterMessageCopyChanger):
    """The third copy of a message to several queues has no body."""

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        return replace(message, Body=b"") if number > 1 else message


@fault("sender-copies-lose-application-tag", breaks="MQDMPR-3.1.7.1.27-12", blind=True)
class SenderCopiesLoseApplicationTag(MessageEnqueueing):
    """The copies of a message to several queues have no application tag and no response queue."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple:
            message = replace(message, AppSpecific=0, ResponseQueueFormatName=None)
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-copies-without-negative-journaling-and-trace", breaks="MQDMPR-3.1.7.1.27-12", blind=True)
class SenderCopiesWithoutNegativeJournalingAndTrace(MessageEnqueueing):
    """The copies of a message to several queues request no negative journaling and no trace."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if descriptor.Multiple:
            message = replace(message, NegativeJournalingRequested=False, BodyType=0)
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)


@fault("sender-second-copy-has-no-response-queue", breaks="MQDMPR-3.1.7.1.27-12")
class SenderSecondCopyHasNoResponseQueue(MessageEnqueueing):
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
class SenderLocalCopyHasDefaultPriority(MessageEnqueueing):
    """When a message is sent to several queues, the copy for a local queue has the default priority."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None and not isinstance(queue, OutgoingQueue):
            message = replace(message, Priority=3)
        return super()._enqueue_message(queue, message, now, transaction)
