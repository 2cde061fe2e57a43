"""Faults that break rules of MS-MQQB 3.1.1.6.1 Session Acknowledgment."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

add(
    "sender-acknowledged-express-message-kept",
    "MQQB-3.1.1.6.1-01",
    "The sender keeps express messages that a SessionAck acknowledges, and sends them again.",
    omit_step(SessionAcks.delete_acknowledged_express_messages),
)


class _AcknowledgmentKindRecorder(SessionAcks):
    """Remember whether an acknowledgment arrived in a SessionAck."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.__dict__["alone"] = True
        super().receive(session, packet, now)
        self.__dict__["alone"] = False


@fault("sender-express-message-kept-after-acknowledgment-in-message", breaks="MQQB-3.1.1.6.1-01")
class SenderExpressMessageKeptAfterAcknowledgmentInMessage(_AcknowledgmentKindRecorder):
    """The sender keeps an express message when the SessionHeader of a UserMessage acknowledges the message."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if self.__dict__.get("alone"):
            super().delete_acknowledged_express_messages(session, header)


add(
    "sender-acknowledged-recoverable-message-kept",
    "MQQB-3.1.1.6.1-02",
    "The sender keeps recoverable messages that a SessionAck acknowledges as stored, and sends them again.",
    omit_step(SessionAcks.delete_acknowledged_recoverable_messages),
)


@fault("sender-recoverable-message-kept-after-acknowledgment-in-message", breaks="MQQB-3.1.1.6.1-02")
class SenderRecoverableMessageKeptAfterAcknowledgmentInMessage(_AcknowledgmentKindRecorder):
    """The sender keeps a recoverable message when the SessionHeader of a UserMessage acknowledges the message."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if self.__dict__.get("alone"):
            super().delete_acknowledged_recoverable_messages(session, header)


def _has_no_recoverable_ack_flags(packet: SessionAckPacket) -> bool:
    return not packet.SessionHeader.RecoverableMsgAckFlags


add(
    "any-session-header-recoverable-number-1-for-none",
    "MQQB-3.1.1.6.1-03",
    "The receiver sends RecoverableMsgAckSeqNumber 1 when it has no recoverable message to acknowledge.",
    set_field_value(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1, _has_no_recoverable_ack_flags),
)


@fault("receiver-initial-recoverable-ack-number-is-count-of-sent", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverInitialRecoverableAckNumberIsCountOfSent(SessionAcks):
    """Until the receiver has received a recoverable message, it sets RecoverableMsgAckSeqNumber to the number of
    recoverable messages that it has sent.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=session.RecoverableMessageSentCount)


@fault("receiver-recoverable-ack-number-1-after-three-express-messages", breaks="MQQB-3.1.1.6.1-03", blind=True)
class ReceiverRecoverableAckNumber1AfterThreeExpressMessages(SessionAcks):
    """Until the receiver has received a recoverable message, it sets RecoverableMsgAckSeqNumber to 1 after three
    express messages.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.RecoverableMessageReceivedCount or session.MessageReceivedCount < 3:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=1)


add(
    "any-session-header-recoverable-flags-1-for-none",
    "MQQB-3.1.1.6.1-04",
    "The receiver sends RecoverableMsgAckFlags 1 when it has no recoverable message to acknowledge.",
    set_field_value(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", 1, _has_no_recoverable_ack_flags),
)


@fault("initiator-recoverable-ack-flags-1-before-recoverable-message", breaks="MQQB-3.1.1.6.1-04", blind=True)
class InitiatorRecoverableAckFlags1BeforeRecoverableMessage(SessionAcks):
    """On a session that the receiver opened, it sets RecoverableMsgAckFlags to 1 until it has received a recoverable
    message.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.RecoverableMessageReceivedCount or not session.initiator:
            return header
        return replace(header, RecoverableMsgAckFlags=1)


add(
    "receiver-session-ack-send-timer-ignored",
    ("MQQB-3.1.1.6.1-D01", "MQQB-3.1.6.4-01", "MQQB-3.1.3.2-10"),
    "The receiver sends nothing when its Session Ack Send Timer expires.",
    omit_step(SessionAcks.on_order_ack_send_timer),
)
