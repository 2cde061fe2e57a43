"""Faults of MS-MQQB 3.1.1.6.1 Session Acknowledgment that occur only for messages that contain an acknowledgment."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class _RememberingKindOfAcknowledgment(SessionAcks):
    """Remember whether an acknowledgment arrived in a SessionAck."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        self.__dict__["alone"] = True
        super().receive(session, packet, now)
        self.__dict__["alone"] = False


@fault("sender-express-message-kept-after-acknowledgment-in-message", breaks="MQQB-3.1.1.6.1-01")
class SenderExpressMessageKeptAfterAcknowledgmentInMessage(_RememberingKindOfAcknowledgment):
    """The sender keeps an express message when the SessionHeader of a UserMessage acknowledges the message."""

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        if self.__dict__.get("alone"):
            super().delete_acknowledged_express(session, header)


@fault("sender-recoverable-message-kept-after-acknowledgment-in-message", breaks="MQQB-3.1.1.6.1-02")
class SenderRecoverableMessageKeptAfterAcknowledgmentInMessage(_RememberingKindOfAcknowledgment):
    """The sender keeps a recoverable message when the SessionHeader of a UserMessage acknowledges the message."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        if self.__dict__.get("alone"):
            super().delete_acknowledged_recoverable(session, header)
