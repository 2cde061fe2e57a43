"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the message, and quotas."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip, skip_during
from harness.faults.refusal_acks import omit_final_ack, omit_nack, send_unrequested_nack
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, MessagePosition, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

QUEUE_FULL = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA


@fault(
    "receiver-message-application-tag-changed", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-02", "MQQB-3.1.5.8.8-05")
)
class ReceiverMessageApplicationTagChanged(Positions):
    """The receiver puts a message with a wrong ApplicationTag into its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=message.AppSpecific ^ 1))


@fault("receiver-message-in-wrong-queue", breaks=("MQQB-3.1.5.8.8-04", "MQQB-3.1.5.8-10"))
class ReceiverMessageInWrongQueue(Positions):
    """The receiver puts every message into the same queue, regardless of its destination."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(next(iter(self.qm.adm.QueueCollection.values())), message)


# -- quotas --------------------------------------------------------------------------------------------------------


def _ignore_quota_kind(exceeded: EnqueueStatus) -> Install:
    """Make the receiver ignore one kind of quota."""

    class Overlooked(Quotas):
        def check(self, queue: Queue, message: Message) -> EnqueueStatus:
            status = super().check(queue, message)
            return EnqueueStatus.NO_ERROR if status is exceeded else status

    return replace_part(Overlooked)


add(
    "receiver-queue-quota-ignored",
    ("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03"),
    "The receiver accepts any number of messages into a queue with a quota.",
    _ignore_quota_kind(EnqueueStatus.QUEUE_QUOTA_EXCEEDED),
)
add(
    "receiver-queue-manager-quota-ignored",
    ("MQQB-3.1.5.8.8-14", "MQQB-3.1.5.8.8-15", "MQQB-3.1.5.8.8-16", "MQDMPR-3.1.7.1.9-04"),
    "The receiver accepts any number of messages regardless of the queue manager's quota.",
    _ignore_quota_kind(EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED),
)
add(
    "receiver-keeps-session-open-above-queue-manager-quota",
    "MQQB-3.1.5.8.8-15",
    "The receiver leaves the session open when a message exceeds the queue manager's quota.",
    skip_during(Admission.has_room, Closing.close),
)
add(
    "receiver-nack-of-queue-quota-not-sent",
    "MQQB-3.1.5.8.8-07",
    "For a message to a full queue, the receiver sends no acknowledgment to the administration queue.",
    omit_nack(QUEUE_FULL),
)
add(
    "receiver-nack-of-queue-quota-sent-without-na",
    "MQQB-3.1.5.8.8-07",
    "For a message without NA to a full queue, the receiver sends an acknowledgment to the administration queue.",
    send_unrequested_nack(QUEUE_FULL),
)
add(
    "receiver-final-ack-of-queue-quota-not-sent",
    "MQQB-3.1.5.8.8-11",
    "The receiver sends no FinalAck for a transactional message to a full queue.",
    omit_final_ack(QUEUE_FULL),
)
add(
    "receiver-dead-letter-of-queue-quota-missing",
    "MQQB-3.1.5.8.8-10",
    "For a message with JN to a full queue, the receiver puts no message into the dead-letter queue.",
    skip(Admission.journal_refused),
)


@fault("receiver-transactional-message-above-quota-dead-letter", breaks="MQQB-3.1.5.8.8-10")
class ReceiverTransactionalMessageAboveQuotaDeadLetter(Admission):
    """The receiver puts a transactional message that exceeds the quota of its queue into the dead-letter queue."""

    def journal_refused(self, message: Message) -> None:
        super().journal_refused(message)
        if message.TransactionIdentifier is not None and message.NegativeJournalingRequested:
            self.qm.journaling.keep_message(self.qm.adm.SystemDeadletterQueue, message)


@fault(
    "receiver-quota-of-transactional-queue-ignored",
    breaks=("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.1.2-D03"),
)
class ReceiverQuotaOfTransactionalQueueIgnored(Quotas):
    """The receiver accepts any number of messages into a transactional queue with a quota."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        full = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if full and queue.Transactional else status


@fault("receiver-dead-letter-of-queue-quota-without-jn", breaks="MQQB-3.1.5.8.8-10")
class ReceiverDeadLetterOfQueueQuotaWithoutJn(Admission):
    """The receiver puts a message without JN that exceeds the quota of its queue into the dead-letter queue."""

    def journal_refused(self, message: Message) -> None:
        super().journal_refused(replace(message, NegativeJournalingRequested=True))


@fault("receiver-message-priority-7-lowered-to-6", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-05"))
class ReceiverMessagePriority7LoweredTo6(Positions):
    """The receiver puts a message with priority 7 into its queue with priority 6."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=min(message.Priority, 6)))


@fault("receiver-dead-letter-of-recoverable-message-missing", breaks="MQQB-3.1.5.8.8-10", blind=True)
class ReceiverDeadLetterOfRecoverableMessageMissing(Admission):
    """The receiver does not put a recoverable message with JN that exceeds the quota of its queue into the dead-letter
    queue.
    """

    def journal_refused(self, message: Message) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().journal_refused(message)


@fault("receiver-express-message-above-quota-of-queue-manager-ignored", breaks="MQQB-3.1.5.8.8-15")
class ReceiverExpressMessageAboveQuotaOfQueueManagerIgnored(Admission):
    """The receiver does not close the session when an express message exceeds the quota of the queue manager."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        full = self.qm.quotas.check(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        if full and not packet.UserHeader.DM:
            return False
        return super().has_room(session, packet, queue, message, now)


@fault("receiver-transfer-info-sender-identifier-of-first-sender", breaks="MQQB-3.1.5.8.8-23")
class ReceiverTransferInfoSenderIdentifierOfFirstSender(InSequence):
    """The receiver sets SenderIdentifier of every IncomingTransactionalTransferInfo of a queue to the SenderIdentifier
    of the queue's first IncomingTransactionalTransferInfo.
    """

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        first = next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))
        transfer.SenderIdentifier = first.SenderIdentifier
