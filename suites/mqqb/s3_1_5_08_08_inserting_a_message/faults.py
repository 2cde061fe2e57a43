"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the message, and quotas."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip, skip_during
from harness.faults.refusal_acks import final_ack_missing, nack_missing, nack_unasked
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus

QUEUE_FULL = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA


@fault("message-of-another-packet", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-02", "MQQB-3.1.5.8.8-05"))
class MessageOfAnotherPacket(Positions):
    """A message gets into its queue with the tag of another."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=message.AppSpecific ^ 1))


@fault("message-into-another-queue", breaks=("MQQB-3.1.5.8.8-04", "MQQB-3.1.5.8-10"))
class MessageIntoAnotherQueue(Positions):
    """A message gets into the first queue that there is."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(next(iter(self.qm.adm.QueueCollection.values())), message)


# -- quotas --------------------------------------------------------------------------------------------------------


def _overlooked(exceeded: EnqueueStatus) -> Install:
    """Overlook that one kind of quota is exceeded."""

    class Overlooked(Quotas):
        def check(self, queue: Queue, message: Message) -> EnqueueStatus:
            status = super().check(queue, message)
            return EnqueueStatus.NO_ERROR if status is exceeded else status

    return replace_part(Overlooked)


add(
    "quota-of-queue-overlooked",
    ("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03"),
    "A queue may hold any amount.",
    _overlooked(EnqueueStatus.QUEUE_QUOTA_EXCEEDED),
)
add(
    "quota-of-queue-manager-overlooked",
    ("MQQB-3.1.5.8.8-14", "MQQB-3.1.5.8.8-15", "MQQB-3.1.5.8.8-16", "MQDMPR-3.1.7.1.9-04"),
    "The queue manager may hold any amount.",
    _overlooked(EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED),
)
add(
    "quota-of-queue-manager-kept-open",
    "MQQB-3.1.5.8.8-15",
    "Above the quota of the queue manager the session stays open.",
    skip_during(Admission.has_room, Closing.close),
)
add(
    "quota-not-told",
    "MQQB-3.1.5.8.8-07",
    "A message for a full queue is not acknowledged to the administration queue.",
    nack_missing(QUEUE_FULL),
)
add(
    "quota-told-unasked",
    "MQQB-3.1.5.8.8-07",
    "A message for a full queue is acknowledged to the administration queue without NA.",
    nack_unasked(QUEUE_FULL),
)
add(
    "quota-without-final-ack",
    "MQQB-3.1.5.8.8-11",
    "No FinalAck is sent of a message for a full queue.",
    final_ack_missing(QUEUE_FULL),
)
add(
    "quota-not-logged",
    "MQQB-3.1.5.8.8-10",
    "A message for a full queue is no dead letter.",
    skip(Admission.log_refused),
)


@fault("quota-logged-with-transaction", breaks="MQQB-3.1.5.8.8-10")
class LoggedWithTransaction(Admission):
    """A transactional message for a full queue is a dead letter here as well."""

    def log_refused(self, message: Message) -> None:
        super().log_refused(message)
        if message.TransactionIdentifier is not None and message.NegativeJournalingRequested:
            self.qm.journaling.keep_message(self.qm.adm.SystemDeadletterQueue, message)


@fault(
    "quota-of-transactional-queue-overlooked", breaks=("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.1.2-D03")
)
class QuotaOfTransactionalQueueOverlooked(Quotas):
    """A transactional queue may hold any amount."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        full = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if full and queue.Transactional else status


@fault("quota-logged-unasked", breaks="MQQB-3.1.5.8.8-10")
class LoggedUnasked(Admission):
    """A message for a full queue is a dead letter whether it asks for that or not."""

    def log_refused(self, message: Message) -> None:
        super().log_refused(replace(message, NegativeJournalingRequested=True))


@fault("priority-lost-in-queue", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-05"))
class PriorityLostInQueue(Positions):
    """A message with the highest priority gets into its queue with the one below."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=min(message.Priority, 6)))


@fault("recoverable-message-over-quota-no-dead-letter", breaks="MQQB-3.1.5.8.8-10", blind=True)
class RecoverableMessageOverQuotaNoDeadLetter(Admission):
    """Only an express message that exceeds the quota of its queue becomes a dead letter."""

    def log_refused(self, message: Message) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().log_refused(message)
