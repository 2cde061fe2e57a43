"""Faults that break rules of MS-MQQB 3.1.7.7."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping


@fault("acceptor-ping-response-rf-clear-under-hardened-security", breaks="MQQB-3.1.7.7-05", blind=True)
class AcceptorPingResponseRfClearUnderHardenedSecurity(Ping):
    """The acceptor clears RF in a Ping Response although it refuses all sessions because of HardenedSecurity."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if not (self.qm.adm.HardenedSecurity and self.qm.adm.ConnectionActive):
            return response
        return replace(response, Flags=response.Flags & ~PingPacket.flags(RF=1))
