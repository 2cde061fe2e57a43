"""Faults that break rules of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.session_states import ignore_packets_in_wrong_state
from reference_qm.codec import Packet, SessionAckPacket, SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("queue-manager-session-ack-before-open-session-ignored", breaks="MQQB-3.1.5.5-01")
class QueueManagerSessionAckBeforeOpenSessionIgnored(SessionClosing):
    """A queue manager ignores a SessionAck before the session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, SessionAckPacket):
            super().close_session_after_unexpected_packet(session, packet, now)


add(
    "acceptor-session-ack-before-parameters-ignored",
    "MQQB-3.1.5.5-01",
    "The acceptor ignores a SessionAck while it waits for ConnectionParameters.",
    ignore_packets_in_wrong_state(SessionAckPacket, SessionState.WAITING_CP_MSG, initiator=False),
    blind=True,
)


add(
    "initiator-session-ack-before-parameters-ignored",
    "MQQB-3.1.5.5-01",
    "The initiator ignores a SessionAck while it waits for the ConnectionParameters response.",
    ignore_packets_in_wrong_state(SessionAckPacket, SessionState.WAITING_CPR_MSG, initiator=True),
    blind=True,
)


@fault("initiator-session-ack-before-open-session-ignored", breaks="MQQB-3.1.5.5-01", blind=True)
class InitiatorSessionAckBeforeOpenSessionIgnored(SessionClosing):
    """An initiator that waits for a ConnectionParameters response ignores a SessionAck, and keeps the session open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waiting and isinstance(packet, SessionAckPacket)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("acceptor-session-ack-without-acknowledgment-before-open-ignored", breaks="MQQB-3.1.5.5-01", blind=True)
class AcceptorSessionAckWithoutAcknowledgmentBeforeOpenIgnored(SessionClosing):
    """Before the session is open, an acceptor ignores a SessionAck that acknowledges nothing."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        is_empty = isinstance(packet, SessionAckPacket) and not packet.SessionHeader.AckSequenceNumber
        if not is_empty:
            super().close_session_after_unexpected_packet(session, packet, now)


def _decrement_ack_sequence_number(header: SessionHeader) -> SessionHeader:
    return replace(header, AckSequenceNumber=header.AckSequenceNumber - 1 & 0xFFFF)


@fault("sender-message-whose-number-is-ack-number-not-marked", breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-01"))
class SenderMessageWhoseNumberIsAckNumberNotMarked(SessionAcks):
    """The sender does not mark the message whose number is AckSequenceNumber as acknowledged."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged_messages(session, _decrement_ack_sequence_number(header))


@fault(
    "sender-window-opened-by-one-for-several-acked-messages",
    breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-03"),
    blind=True,
)
class SenderWindowOpenedByOneForSeveralAckedMessages(SessionAcks):
    """The sender makes room for only one message in its window when an acknowledgment covers several messages."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged_messages(session, header)
        if session.UnAckedMessageCount < before:
            session.UnAckedMessageCount = before - 1


@fault("sender-express-message-whose-number-is-ack-number-kept", breaks=("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"))
class SenderExpressMessageWhoseNumberIsAckNumberKept(SessionAcks):
    """The sender keeps the express message whose number is AckSequenceNumber."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express_messages(session, _decrement_ack_sequence_number(header))


@fault("sender-recoverable-messages-up-to-ack-number-deleted", breaks=("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"))
class SenderRecoverableMessagesUpToAckNumberDeleted(SessionAcks):
    """The sender deletes recoverable messages up to AckSequenceNumber."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express_messages(session, header)
        for position in session.OutgoingMessageTable.awaiting_ack:
            if position.SequenceNumber <= header.AckSequenceNumber:
                self.delete_position(session, position)


add(
    "sender-acknowledged-recoverable-messages-never-deleted",
    "MQQB-3.1.5.5-05",
    "The sender never deletes a recoverable message.",
    omit_step(SessionAcks.delete_acknowledged_recoverable_messages),
)


add(
    "sender-acknowledged-message-not-journaled",
    ("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"),
    "The sender deletes acknowledged messages with positive source journaling but does not journal them.",
    omit_step(MessageJournaling.journal_delivered_message),
)


@fault("sender-recoverable-message-journaled-before-storage-is-acked", breaks=("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"))
class SenderRecoverableMessageJournaledBeforeStorageIsAcked(SessionAcks):
    """The sender deletes and journals recoverable messages up to AckSequenceNumber before they are acknowledged as
    stored.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack:
            if position.recoverable and not position.TxSequenceNumber and position.ReceivedSessionAck:
                self.delete_position(session, position)


@fault("sender-message-journaled-without-its-body", breaks=("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"))
class SenderMessageJournaledWithoutItsBody(MessageJournaling):
    """The sender journals messages without their body."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, Body=b"")
        super().journal_delivered_message(position)


@fault("sender-does-not-journal-message-acked-by-header-in-message", breaks="MQQB-3.1.5.5-06", blind=True)
class SenderDoesNotJournalMessageAckedByHeaderInMessage(SessionAcks):
    """The sender does not journal a message that the SessionHeader of a UserMessage acknowledges."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_processing_session_ack = False

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.is_processing_session_ack = True
        super().receive(session, packet, now)
        self.is_processing_session_ack = False

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        if self.is_processing_session_ack:
            super().delete_position(session, position)
        else:
            session.OutgoingMessageTable.remove(position)


@fault("receiver-session-header-message-count-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class ReceiverSessionHeaderMessageCountNotValidated(SessionAcks):
    """The receiver accepts every UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("receiver-session-header-recoverable-count-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class ReceiverSessionHeaderRecoverableCountNotValidated(SessionAcks):
    """The receiver accepts every RecoverableMsgSeqNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("initiator-session-header-counts-not-validated", breaks=("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"))
class InitiatorSessionHeaderCountsNotValidated(SessionAcks):
    """The initiator of a session accepts all message counts of a SessionHeader."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if not session.initiator:
            super().validate_message_counts(session, header, now)


@fault("sender-recoverable-messages-kept-after-session-header-of-message", breaks="MQQB-3.1.5.5-05", blind=True)
class SenderRecoverableMessagesKeptAfterSessionHeaderOfMessage(SessionAcks):
    """The sender deletes acknowledged recoverable messages only when a SessionAck Packet arrives, and not when the
    SessionHeader is part of a UserMessage.
    """

    is_processing_session_ack = False

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.is_processing_session_ack = True
        super().receive(session, packet, now)
        self.is_processing_session_ack = False

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if self.is_processing_session_ack:
            super().delete_acknowledged_recoverable_messages(session, header)


@fault("sender-only-first-acknowledged-recoverable-message-deleted", breaks="MQQB-3.1.5.5-05", blind=True)
class SenderOnlyFirstAcknowledgedRecoverableMessageDeleted(SessionAcks):
    """The sender deletes only the recoverable message with the number RecoverableMsgAckSeqNumber."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=1))


@fault("sender-recoverable-messages-of-second-session-kept", breaks="MQQB-3.1.5.5-05", blind=True)
class SenderRecoverableMessagesOfSecondSessionKept(SessionAcks):
    """The sender does not delete acknowledged recoverable messages while another session is open."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if not list_open_sessions(self.qm, session):
            super().delete_acknowledged_recoverable_messages(session, header)
