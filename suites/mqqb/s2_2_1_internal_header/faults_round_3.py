"""Faults that break rules of MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-ack-internal-header-reserved-discarded", breaks="MQQB-2.2.1-01", blind=True)
class SenderSessionAckInternalHeaderReservedDiscarded(SessionAcks):
    """The sender of messages discards a SessionAck whose InternalHeader.Reserved is not zero."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.Reserved:
            super().receive(session, packet, now)
