"""Faults that break the rules MQQB-3.1.5.8.8-01 to MQQB-3.1.5.8.8-11."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, replace_method_during
from harness.faults.received_messages import change_received_message
from harness.faults.refusal_acks import omit_final_ack, omit_nack, send_unrequested_nack
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_08_inserting_a_message.fault_steps import OVER_QUOTA_CLASS, ignore_quota_kind


@fault(
    "receiver-message-application-tag-changed", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-02", "MQQB-3.1.5.8.8-05")
)
class ReceiverMessageApplicationTagChanged(MessagePositions):
    """The receiver puts a message with a wrong ApplicationTag into its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=message.AppSpecific ^ 1))


@fault("receiver-message-priority-7-lowered-to-6", breaks=("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-05"))
class ReceiverMessagePriority7LoweredTo6(MessagePositions):
    """The receiver puts a message with priority 7 into its queue with priority 6."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=min(message.Priority, 6)))


@fault("receiver-every-message-put-into-same-queue", breaks=("MQQB-3.1.5.8.8-04", "MQQB-3.1.5.8-10"))
class ReceiverEveryMessagePutIntoSameQueue(MessagePositions):
    """The receiver puts every message into the same queue, regardless of its destination."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(next(iter(self.qm.adm.QueueCollection.values())), message)


@fault("receiver-priority-of-recoverable-message-changed-to-3", breaks="MQQB-3.1.5.8.8-05", blind=True)
class ReceiverPriorityOfRecoverableMessageChangedTo3(MessageAdmission):
    """The receiver puts a recoverable message into its queue with the priority 3."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None or admitted.TransactionHeader is not None or not admitted.UserHeader.DM:
            return admitted
        return replace(admitted, BaseHeader=replace(admitted.BaseHeader, Flags=admitted.BaseHeader.Flags & ~7 | 3))


LARGE_BODY_BYTES = 0x10000


add(
    "receiver-body-beyond-64-kb-cut-off",
    "MQQB-3.1.5.8.8-05",
    "The receiver stores only the first 65,536 bytes of a body.",
    change_received_message(
        {
            "BaseHeader.PacketSize": 0,
            "MessagePropertiesHeader.AllocationBodySize": LARGE_BODY_BYTES,
            "MessagePropertiesHeader.MessageBody": lambda body: body[:LARGE_BODY_BYTES],
        },
        lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES,
    ),
)


add(
    "receiver-priority-of-recoverable-message-not-stored",
    "MQQB-3.1.5.8.8-05",
    "The receiver stores a recoverable message with priority 3.",
    change_received_message(
        {"BaseHeader": lambda header: replace(header, Flags=header.Flags & ~7 | 3)},
        lambda packet: packet.UserHeader.DM and packet.TransactionHeader is None,
    ),
)


add(
    "receiver-queue-quota-ignored",
    ("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.7.1.9-07", "MQDMPR-3.1.1.2-D03"),
    "The receiver accepts any number of messages into a queue with a quota.",
    ignore_quota_kind(EnqueueStatus.QUEUE_QUOTA_EXCEEDED),
)


@fault(
    "receiver-quota-of-transactional-queue-ignored",
    breaks=("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-13", "MQDMPR-3.1.1.2-D03"),
)
class ReceiverQuotaOfTransactionalQueueIgnored(QueueQuotas):
    """The receiver accepts any number of messages into a transactional queue with a quota."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        full = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if full and queue.Transactional else status


@fault("receiver-quota-checked-without-size-of-message", breaks="MQQB-3.1.5.8.8-06", blind=True)
class ReceiverQuotaCheckedWithoutSizeOfMessage(MessageAdmission):
    """When the receiver checks the quota of a queue, it counts only the messages that are already in the queue, not the
    new message.
    """

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        status = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and queue.TotalBytes < 1024 * queue.Quota:
            return True
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-quota-not-applied-to-message-in-empty-queue", breaks="MQQB-3.1.5.8.8-06")
class ReceiverQuotaNotAppliedToMessageInEmptyQueue(QueueQuotas):
    """If a queue is empty, the receiver accepts a message that is larger than the quota of the queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        empty = not queue.MessagePositionList.TotalBytes
        return EnqueueStatus.NO_ERROR if empty and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


QUOTA_EXCEEDED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA


add(
    "receiver-nack-of-queue-quota-not-sent",
    "MQQB-3.1.5.8.8-07",
    "For a message to a full queue, the receiver sends no acknowledgment to the administration queue.",
    omit_nack(QUOTA_EXCEEDED_CLASS),
)


add(
    "receiver-nack-of-queue-quota-sent-without-na",
    "MQQB-3.1.5.8.8-07",
    "For a message without NA to a full queue, the receiver sends an acknowledgment to the administration queue.",
    send_unrequested_nack(QUOTA_EXCEEDED_CLASS),
)


@fault("receiver-over-quota-nack-once-per-sender", breaks="MQQB-3.1.5.8.8-07", blind=True)
class ReceiverOverQuotaNackOncePerSender(AdminAcks):
    """The receiver sends an acknowledgment of class Q_EXCEED_QUOTA only for the first message of a sender that exceeds
    a quota.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[object] = set()

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is OVER_QUOTA_CLASS:
            if message.Identifier.QueueManagerGuid in self.done:
                return
            self.done.add(message.Identifier.QueueManagerGuid)
        super().acknowledge_failure(message, message_class, now)


@fault("receiver-over-quota-nack-of-recoverable-message-omitted", breaks="MQQB-3.1.5.8.8-07", blind=True)
class ReceiverOverQuotaNackOfRecoverableMessageOmitted(AdminAcks):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a recoverable message without a transaction."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not (message_class is OVER_QUOTA_CLASS and recoverable and message.TransactionIdentifier is None):
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-quota-nack-of-transactional-message-missing", breaks="MQQB-3.1.5.8.8-07")
class ReceiverQuotaNackOfTransactionalMessageMissing(AdminAcks):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a transactional message with NA set."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        quota = message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
        if not (quota and message.TransactionIdentifier is not None):
            super().acknowledge_failure(message, message_class, now)


add(
    "receiver-dead-letter-of-queue-quota-missing",
    "MQQB-3.1.5.8.8-10",
    "For a message with JN to a full queue, the receiver puts no message into the dead-letter queue.",
    omit_step(MessageAdmission.journal_refused_message),
)


@fault("receiver-over-quota-transactional-message-made-dead-letter", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaTransactionalMessageMadeDeadLetter(MessageAdmission):
    """The receiver puts a transactional message that exceeds the quota of its queue into the dead-letter queue."""

    def journal_refused_message(self, message: Message) -> None:
        super().journal_refused_message(message)
        if message.TransactionIdentifier is not None and message.NegativeJournalingRequested:
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemDeadletterQueue, message)


@fault("receiver-over-quota-message-without-jn-made-dead-letter", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaMessageWithoutJnMadeDeadLetter(MessageAdmission):
    """The receiver puts a message without JN that exceeds the quota of its queue into the dead-letter queue."""

    def journal_refused_message(self, message: Message) -> None:
        super().journal_refused_message(replace(message, NegativeJournalingRequested=True))


@fault("receiver-over-quota-recoverable-message-not-made-dead-letter", breaks="MQQB-3.1.5.8.8-10", blind=True)
class ReceiverOverQuotaRecoverableMessageNotMadeDeadLetter(MessageAdmission):
    """The receiver does not put a recoverable message with JN that exceeds the quota of its queue into the dead-letter
    queue.
    """

    def journal_refused_message(self, message: Message) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().journal_refused_message(message)


def _journal_only_recoverable_refusals(original: Callable[..., None], *_: object) -> Callable[..., None]:
    def journal_refused_message(qm: QueueManager, message: Message) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            original(qm, message)

    return journal_refused_message


add(
    "receiver-express-message-over-quota-not-in-dead-letter-queue",
    "MQQB-3.1.5.8.8-10",
    "The receiver puts a message with JN that exceeds the quota into the dead-letter queue only if it is recoverable.",
    replace_method_during(
        MessageAdmission.has_queue_room_for_message,
        MessageAdmission.journal_refused_message,
        _journal_only_recoverable_refusals,
    ),
    blind=True,
)


@fault("receiver-over-quota-recoverable-message-not-journaled", breaks="MQQB-3.1.5.8.8-10", blind=True)
class ReceiverOverQuotaRecoverableMessageNotJournaled(MessageAdmission):
    """The receiver does not put a recoverable message with JN that exceeds the quota into the dead-letter queue."""

    def journal_refused_message(self, message: Message) -> None:
        if message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().journal_refused_message(message)


@fault("receiver-over-quota-transactional-message-journaled", breaks="MQQB-3.1.5.8.8-10", blind=True)
class ReceiverOverQuotaTransactionalMessageJournaled(MessageAdmission):
    """The receiver puts a transactional message with JN that exceeds the quota into the receiver's own dead-letter
    queue.
    """

    def journal_refused_message(self, message: Message) -> None:
        if message.NegativeJournalingRequested and message.TransactionIdentifier is not None:
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemTransactionalDeadletterQueue, message)
        super().journal_refused_message(message)


@fault("receiver-over-quota-message-with-jn-and-jp-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaMessageWithJnAndJpNotInDeadLetterQueue(MessageAdmission):
    """If both JP and JN are set, the receiver does not put a message that exceeds the quota into a
    dead-letter queue.
    """

    def journal_refused_message(self, message: Message) -> None:
        if not message.PositiveJournalingRequested:
            super().journal_refused_message(message)


@fault("receiver-over-quota-express-message-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaExpressMessageNotInDeadLetterQueue(MessageAdmission):
    """The receiver puts only recoverable messages that exceed the quota into the dead-letter queue."""

    def journal_refused_message(self, message: Message) -> None:
        if message.DeliveryGuarantee.name == "RECOVERABLE":
            super().journal_refused_message(message)


add(
    "receiver-final-ack-of-queue-quota-not-sent",
    "MQQB-3.1.5.8.8-11",
    "The receiver sends no FinalAck for a transactional message to a full queue.",
    omit_final_ack(QUOTA_EXCEEDED_CLASS),
)


@fault("receiver-over-quota-final-ack-sent-only-if-na-is-set", breaks="MQQB-3.1.5.8.8-11", blind=True)
class ReceiverOverQuotaFinalAckSentOnlyIfNaIsSet(FinalAcks):
    """If a message exceeds the quota, the receiver sends its FinalAck only if NA is set."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is not OVER_QUOTA_CLASS or packet.MessagePropertiesHeader.NA:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-no-nack-q-exceed-quota-of-message-with-jn", breaks="MQQB-3.1.5.8.8-07", blind=True)
class ReceiverNoNackQExceedQuotaOfMessageWithJn(AdminAcks):
    """The receiver sends no administration acknowledgment of class NACK_Q_EXCEED_QUOTA for a nontransactional message
    with NA and JN, because the message is put into the dead-letter queue.
    """

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        journaled = message.NegativeJournalingRequested and message.TransactionIdentifier is None
        if not (journaled and message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA):
            super().acknowledge_failure(message, message_class, now)
