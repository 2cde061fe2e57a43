"""Faults of MS-MQQB 3.1.1.6.1 Session Acknowledgment: the sender ignores acknowledgments in UserMessages, or the
acknowledgment of some messages.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class _FaultByCarrierOfSessionHeader(SessionAcks):
    """A base class of faults that depend on whether a SessionHeader arrived in a SessionAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.in_session_ack = False

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.in_session_ack = True
        super().receive(session, packet, now)
        self.in_session_ack = False


@fault("sender-express-message-acknowledged-in-message-kept", breaks="MQQB-3.1.1.6.1-01", blind=True)
class SenderExpressMessageAcknowledgedInMessageKept(_FaultByCarrierOfSessionHeader):
    """The sender discards express messages if a SessionAck acknowledges them, but not if the SessionHeader of a
    UserMessage does.
    """

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if self.in_session_ack:
            super().delete_acknowledged_express_messages(session, header)


@fault("sender-one-express-message-per-acknowledgment-discarded", breaks="MQQB-3.1.1.6.1-01", blind=True)
class SenderOneExpressMessagePerAcknowledgmentDiscarded(SessionAcks):
    """The sender discards only the first of several express messages that a SessionAck acknowledges."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        numbers = [one.SequenceNumber for one in session.OutgoingMessageTable.awaiting_ack if not one.recoverable]
        if numbers and numbers[0] <= header.AckSequenceNumber:
            super().delete_acknowledged_express_messages(session, replace(header, AckSequenceNumber=numbers[0]))


@fault("sender-recoverable-message-acknowledged-in-message-kept", breaks="MQQB-3.1.1.6.1-02", blind=True)
class SenderRecoverableMessageAcknowledgedInMessageKept(_FaultByCarrierOfSessionHeader):
    """The sender discards recoverable messages if a SessionAck acknowledges them, but not if the SessionHeader of a
    UserMessage does.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if self.in_session_ack:
            super().delete_acknowledged_recoverable_messages(session, header)


@fault("sender-ignores-bits-16-to-31-of-recoverable-ack-flags", breaks="MQQB-3.1.1.6.1-02", blind=True)
class SenderIgnoresBits16To31OfRecoverableAckFlags(SessionAcks):
    """The sender ignores the bits 16 to 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        low = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)
        super().delete_acknowledged_recoverable_messages(session, low)


@fault("receiver-initial-recoverable-ack-number-1-on-own-session", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverInitialRecoverableAckNumber1OnOwnSession(SessionAcks):
    """RecoverableMsgAckSeqNumber is 1 on a session that the receiver opened, before a recoverable message arrives."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        early = session.initiator and not session.RecoverableMessageReceivedCount
        return replace(header, RecoverableMsgAckSeqNumber=1) if early else header


@fault("receiver-recoverable-ack-number-1-in-second-express-ack", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverRecoverableAckNumber1InSecondExpressAck(SessionAcks):
    """RecoverableMsgAckSeqNumber is 1 in the second SessionAck, although only express messages have arrived."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        later = session.MessageReceivedCount > session.UnackedReceivedMsgCount
        early = later and not session.RecoverableMessageReceivedCount
        return replace(header, RecoverableMsgAckSeqNumber=1) if early else header
