"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import Packet, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-user-message-packet-not-counted-as-activity", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderUserMessagePacketNotCountedAsActivity(Identifying):
    """The sender does not set ReceivedAck to TRUE when it receives a UserMessage."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_message = False

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        before = session.ReceivedAck
        super().receive_packet(session, data, now)
        if self.is_message:
            session.ReceivedAck = before

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        self.is_message = isinstance(packet, UserMessagePacket)
        return packet
