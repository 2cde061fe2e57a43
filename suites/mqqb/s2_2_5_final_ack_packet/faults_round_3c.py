"""Faults that break rules of MS-MQQB 2.2.5."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-of-encrypted-message-with-bad-signature-bad-encryption", breaks="MQQB-2.2.5-18", blind=True)
class ReceiverFinalAckOfEncryptedMessageWithBadSignatureBadEncryption(FinalAcks):
    """The receiver sends a FinalAck of class NACK_BAD_ENCRYPTION for an encrypted transactional message that has an
    invalid signature.
    """

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if encrypted and message_class is MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
        super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-final-ack-of-message-in-subqueue-of-deleted-queue-q-purged", breaks="MQQB-2.2.5-20", blind=True)
class ReceiverFinalAckOfMessageInSubqueueOfDeletedQueueQPurged(FinalAcks):
    """The receiver sends a FinalAck of class NACK_Q_PURGED for a transactional message that was in a subqueue when its
    queue was deleted.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        in_subqueue = position.QueueReference.parent is not None
        if in_subqueue and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().acknowledge_final(position, reason, now)
