"""Faults of MS-MQQB 2.2.6 SessionAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.model.adm import Session

SESSION_ACK_SIZE = 36


@fault("initiator-session-ack-with-trailing-zeros", breaks="MQQB-2.2.6-D01", blind=True)
class TrailingZeros(Connecting):
    """A SessionAck on a session that the receiver opened has four bytes of zero at its end."""

    def send(self, session: Session, packet: bytes) -> None:
        if session.initiator and len(packet) == SESSION_ACK_SIZE:
            size = (len(packet) + 4).to_bytes(4, "little")
            packet = packet[:8] + size + packet[12:] + bytes(4)
        super().send(session, packet)
