"""Faults that break rules of MS-MQQB 2.2.1 InternalHeader, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-with-x14-not-processed", breaks="MQQB-2.2.1-16", blind=True)
class ReceiverSessionAckWithX14NotProcessed(SessionAcks):
    """The receiver does not process a SessionAck with X14 of InternalHeader.Flags set."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.InternalHeader.X14:
            super().receive(session, packet, now)
