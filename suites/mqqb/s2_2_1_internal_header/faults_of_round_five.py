"""Faults of the fifth round that break rules of MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-ack-with-bit-x15-discarded", breaks="MQQB-2.2.1-17", blind=True)
class SenderSessionAckWithBitX15Discarded(SessionAcks):
    """The sender discards a SessionAck with bit X15 of InternalHeader.Flags set, and keeps the session open."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.X15:
            super().receive(session, packet, now)
