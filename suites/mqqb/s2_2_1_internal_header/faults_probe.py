"""Faults of MS-MQQB 2.2.1 InternalHeader, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_X15 = 1 << 15


@fault("receiver-session-ack-repeats-x15-of-received-session-ack", breaks="MQQB-2.2.1-17", blind=True)
class ReceiverSessionAckRepeatsX15OfReceivedSessionAck(SessionAcks):
    """After a SessionAck with bit X15 of InternalHeader.Flags set, the receiver sets X15 in the SessionAcks that it
    sends on this session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.marked: set[int] = set()

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if packet.InternalHeader.Flags & _X15:
            self.marked.add(session.number)
        super().receive(session, packet, now)

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        if session.number not in self.marked:
            return packet
        header = packet.InternalHeader
        return replace(packet, InternalHeader=replace(header, Flags=header.Flags | _X15))
