"""Faults of round five that break rules of MS-MQSO 3.3.4 Use Case Descriptions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-message-received-from-journal-kept", breaks="MQSO-3.3.4.6-D02", blind=True)
class QueueManagerMessageReceivedFromJournalKept(MessageReading):
    """The queue manager does not remove a message that an application receives from the journal of a queue."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        if position.QueueReference.Pathname.lower().endswith(";journal") and not two_phase_read:
            answered(Status.MQ_OK, position)
            return
        super().take_message_out(position, transaction, two_phase_read, answered)


@fault("queue-manager-message-for-second-of-several-own-queues-dropped", breaks="MQSO-3.3.4.3-D02", blind=True)
class QueueManagerMessageForSecondOfSeveralOwnQueuesDropped(MessageEnqueueing):
    """If an application sends a message to several queues of the queue manager at once, the queue manager stores the
    message only in the first of these queues.
    """

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        singles = descriptor.OpenQueueDescriptorCollection
        own = [one for one in singles if not isinstance(one.QueueReference, OutgoingQueue)]
        if descriptor.Multiple and len(own) > 1:
            kept = [one for one in singles if one not in own[1:]]
            descriptor = replace(descriptor, OpenQueueDescriptorCollection=kept)
        return super().enqueue_to_open_queue(descriptor, message, now, transaction)
