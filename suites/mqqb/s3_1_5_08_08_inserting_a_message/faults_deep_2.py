"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue that occur only for large messages or one kind of
delivery.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x10000

add(
    "receiver-body-beyond-64-kb-cut-off",
    "MQQB-3.1.5.8.8-05",
    "The receiver stores only the first 65,536 bytes of a body.",
    change_received(
        {
            "BaseHeader.PacketSize": 0,
            "MessagePropertiesHeader.AllocationBodySize": LARGE_BODY_BYTES,
            "MessagePropertiesHeader.MessageBody": lambda body: body[:LARGE_BODY_BYTES],
        },
        lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES,
    ),
)


@fault("receiver-quota-ignored-by-empty-queue", breaks="MQQB-3.1.5.8.8-06")
class ReceiverQuotaIgnoredByEmptyQueue(Quotas):
    """The receiver accepts a message that is larger than the quota of its queue if the queue is empty."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        empty = not queue.MessagePositionList.TotalBytes
        return EnqueueStatus.NO_ERROR if empty and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


@fault("receiver-quota-nack-of-transactional-message-missing", breaks="MQQB-3.1.5.8.8-07")
class ReceiverQuotaNackOfTransactionalMessageMissing(AdminAcks):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a transactional message with NA set."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        quota = message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
        if not (quota and message.TransactionIdentifier is not None):
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-session-open-after-express-message-beyond-machine-quota", breaks="MQQB-3.1.5.8.8-15")
class ReceiverSessionOpenAfterExpressMessageBeyondMachineQuota(Admission):
    """The receiver drops an express message that exceeds the quota of the queue manager, and keeps the session open."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        status = self.qm.quotas.check(queue, message)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and not packet.UserHeader.DM:
            return False
        return super().has_room(session, packet, queue, message, now)


@fault("receiver-over-quota-message-with-jn-and-jp-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaMessageWithJnAndJpNotInDeadLetterQueue(Admission):
    """The receiver puts a message that exceeds the quota into no dead-letter queue if both JP and JN are set."""

    def journal_refused(self, message: Message) -> None:
        if not message.PositiveJournalingRequested:
            super().journal_refused(message)


@fault("receiver-over-quota-express-message-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaExpressMessageNotInDeadLetterQueue(Admission):
    """The receiver puts only recoverable messages that exceed the quota into the dead-letter queue."""

    def journal_refused(self, message: Message) -> None:
        if message.DeliveryGuarantee.name == "RECOVERABLE":
            super().journal_refused(message)


@fault("receiver-over-quota-second-message-inserted", breaks="MQQB-3.1.5.8.8-13")
class ReceiverOverQuotaSecondMessageInserted(Quotas):
    """The receiver inserts every second message that exceeds the quota of its queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        if status is not EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            return status
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return EnqueueStatus.NO_ERROR if self.__dict__["count"] % 2 == 0 else status


add(
    "receiver-priority-of-recoverable-message-not-stored",
    "MQQB-3.1.5.8.8-05",
    "The receiver stores a recoverable message with priority 3.",
    change_received(
        {"BaseHeader": lambda header: replace(header, Flags=header.Flags & ~7 | 3)},
        lambda packet: packet.UserHeader.DM and packet.TransactionHeader is None,
    ),
)
