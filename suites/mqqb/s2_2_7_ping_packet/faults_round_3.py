"""Faults that break rules of MS-MQQB 2.2.7 Ping Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

UNUSED_BIT_13 = 1 << 13
RF_FLAG = PingPacket.flags(RF=1)


@fault("initiator-ping-response-bit-13-taken-as-refusal", breaks="MQQB-2.2.7-17", blind=True)
class InitiatorPingResponseBit13TakenAsRefusal(Ping):
    """The initiator treats a Ping Response with the unused bit 13 set in Flags as a refusal of the session."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.Flags & UNUSED_BIT_13:
            response = replace(response, Flags=response.Flags | RF_FLAG)
        super().response_processed(session, response, now)
