"""Faults of MS-MQQB 2.2.1 InternalHeader, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-ack-reserved-nonzero-has-no-effect", breaks="MQQB-2.2.1-01", blind=True)
class SenderSessionAckReservedNonzeroHasNoEffect(SessionAcks):
    """The sender ignores the acknowledgment in a SessionAck whose InternalHeader.Reserved is not zero."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.Reserved:
            super().receive(session, packet, now)
