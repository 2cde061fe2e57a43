"""Faults that break rules of MS-MQMQ 2.2.20.4 SessionHeader for messages that expire before they are sent."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-expired-message-takes-sequence-number", breaks="MQMQ-2.2.20.4-03", blind=True)
class SenderExpiredMessageTakesSequenceNumber(MessageSending):
    """A message that expires before it is sent takes a sequence number of the sender's session."""

    def delete_expired_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        session.MessageSentCount = session.MessageSentCount + 1 & 0xFFFF
        super().delete_expired_message(session, position, now)


@fault("sender-expired-message-takes-recoverable-sequence-number", breaks="MQMQ-2.2.20.4-10")
class SenderExpiredMessageTakesRecoverableSequenceNumber(MessageSending):
    """A recoverable message that expires before it is sent takes a recoverable sequence number of the sender's
    session.
    """

    def delete_expired_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if position.UserMessage.UserHeader.DM:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount + 1 & 0xFFFF
        super().delete_expired_message(session, position, now)


@fault("sender-recoverable-administration-acks-not-counted", breaks="MQMQ-2.2.20.4-04", blind=True)
class SenderRecoverableAdministrationAcksNotCounted(MessageSending):
    """The sender does not count its recoverable administration acknowledgments as recoverable messages, so the next
    recoverable message has the same number.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        normal = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NORMAL
        if position.recoverable and not normal and not is_for_order_queue(packet):
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet
