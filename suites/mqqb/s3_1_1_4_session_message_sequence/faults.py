"""Faults that break rules of MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _change_numbering_of_session_messages(first: int, step: int) -> Install:
    """Number the messages of a session from a given number with a given increment."""

    class ChangedNumbering(MessageSending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            position.SequenceNumber = first + (position.SequenceNumber - 1) * step
            return packet

    return replace_part(ChangedNumbering)


add(
    "sender-session-messages-numbered-from-0",
    "MQQB-3.1.1.4-01",
    "The sender numbers the messages of a session from 0.",
    _change_numbering_of_session_messages(first=0, step=1),
)


add(
    "sender-session-message-numbers-grow-by-two",
    "MQQB-3.1.1.4-01",
    "The sender numbers the messages of a session 1, 3, 5.",
    _change_numbering_of_session_messages(first=1, step=2),
)


@fault("sender-message-resent-on-same-session-not-counted", breaks="MQQB-3.1.1.4-01", blind=True)
class SenderMessageResentOnSameSessionNotCounted(MessageSending):
    """The sender does not count a message that it sends a second time on the same session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        again = position.Transmitted
        packet = super().update_user_message(session, position, now)
        if again:
            session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
        return packet


@fault("sender-message-with-session-header-not-counted", breaks="MQQB-3.1.1.4-01", blind=True)
class SenderMessageWithSessionHeaderNotCounted(MessageSending):
    """The sender does not count a message that contains a SessionHeader."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is not None:
            session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
        return packet


@fault("receiver-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01")
class ReceiverTransactionalMessageNotCountedAsRecoverable(MessageReceiving):
    """The receiver does not count a transactional message as a recoverable message of the session."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.RecoverableMessageReceivedCount
        super().count_message_received_on_session(session, packet)
        if packet.TransactionHeader is not None:
            session.RecoverableMessageReceivedCount = before


@fault("sender-session-ack-omits-sent-transactional-messages", breaks="MQQB-3.1.1.4-D01")
class SenderSessionAckOmitsSentTransactionalMessages(SessionAcks):
    """The sender's SessionAck does not count transactional messages in RecoverableMsgSeqNumber."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        transactional = sum(bool(position.TxSequenceNumber) for position in session.OutgoingMessageTable)
        return replace(header, RecoverableMsgSeqNumber=max(0, header.RecoverableMsgSeqNumber - transactional))


@fault("sender-recoverable-sent-count-omits-transactional", breaks="MQQB-3.1.1.4-D01", blind=True)
class SenderRecoverableSentCountOmitsTransactional(MessageSending):
    """The sender's RecoverableMessageSentCount does not count transactional messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.UserHeader.TH:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet


@fault("receiver-rejected-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01", blind=True)
class ReceiverRejectedTransactionalMessageNotCountedAsRecoverable(TransactionalReceiving):
    """When a transactional message is out of sequence, the receiver does not count it as a recoverable message."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().receive_transactional_message(session, packet, receipt, now)
        if receipt.is_on_disk:
            session.RecoverableMessageReceivedCount -= 1


@fault("sender-transactional-message-sent-again-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01", blind=True)
class SenderTransactionalMessageSentAgainNotCountedAsRecoverable(MessageSending):
    """The sender does not count a transactional message as recoverable when it sends the message again."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        again = position.Transmitted and position.TxSequenceNumber
        packet = super().update_user_message(session, position, now)
        if again:
            session.RecoverableMessageSentCount -= 1
        return packet


@fault("initiator-received-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01")
class InitiatorReceivedTransactionalMessageNotCountedAsRecoverable(MessageReceiving):
    """When the initiator receives a transactional message, it does not count the message as a recoverable message."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.RecoverableMessageReceivedCount
        super().count_message_received_on_session(session, packet)
        if session.initiator and packet.TransactionHeader is not None:
            session.RecoverableMessageReceivedCount = before
