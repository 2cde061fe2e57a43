"""Faults that break rules of MS-MQQB 3.1.5.8.2 General Processing."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.routing import HIGHEST_HOP_COUNT
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("router-retransmitted-message-rc-incremented-again", breaks="MQQB-3.1.5.8.2-39", blind=True)
class RouterRetransmittedMessageRcIncrementedAgain(Sending):
    """The router increments RC of a forwarded message again when it sends the message again on the next session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.forwarded: set[OutgoingMessagePosition] = set()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        header = packet.UserHeader
        if not self.is_own(packet):
            if position in self.forwarded and header.RC < HIGHEST_HOP_COUNT:
                packet = replace(packet, UserHeader=replace(header, Flags=header.Flags + 1))
            self.forwarded.add(position)
        super().transmit(session, position, packet)
