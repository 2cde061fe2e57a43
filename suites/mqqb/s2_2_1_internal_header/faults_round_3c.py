"""Faults that break rules of MS-MQQB 2.2.1."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-ack-with-x9-not-processed", breaks="MQQB-2.2.1-11", blind=True)
class SenderSessionAckWithX9NotProcessed(SessionAcks):
    """The sender of messages discards a SessionAck in which InternalHeader.Flags.X9 is set."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.X9:
            super().receive(session, packet, now)
