"""Faults of MS-MQQB 3.1.1.4 Session Message Sequence, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("sender-message-sent-again-on-session-not-counted", breaks="MQQB-3.1.1.4-01", blind=True)
class SenderMessageSentAgainOnSessionNotCounted(Sending):
    """The sender does not count a message that it sends a second time on the same session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        again = position.Transmitted
        packet = super().update_user_message(session, position, now)
        if again:
            session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
        return packet


@fault("sender-message-with-session-header-not-counted", breaks="MQQB-3.1.1.4-01", blind=True)
class SenderMessageWithSessionHeaderNotCounted(Sending):
    """The sender does not count a message that contains a SessionHeader."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is not None:
            session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
        return packet


@fault("receiver-rejected-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01", blind=True)
class ReceiverRejectedTransactionalMessageNotCountedAsRecoverable(InSequence):
    """The receiver does not count a transactional message that is out of sequence as a recoverable message."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().take_transactional(session, packet, receipt, now)
        if receipt.done:
            session.RecoverableMessageReceivedCount -= 1


@fault("sender-transactional-message-sent-again-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01", blind=True)
class SenderTransactionalMessageSentAgainNotCountedAsRecoverable(Sending):
    """The sender does not count a transactional message as recoverable when it sends the message again."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        again = position.Transmitted and position.TxSequenceNumber
        packet = super().update_user_message(session, position, now)
        if again:
            session.RecoverableMessageSentCount -= 1
        return packet
