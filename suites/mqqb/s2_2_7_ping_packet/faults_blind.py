"""Faults of MS-MQQB 2.2.7 Ping Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.clock import Now


@fault("acceptor-refusing-ping-response-rc-clear", breaks="MQQB-2.2.7-03", blind=True)
class AcceptorRefusingPingResponseRcClear(Ping):
    """The acceptor clears RC in a Ping Response whose RF is set, even if RC of the Ping Request is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=PingPacket.flags(RC=0, RF=1)) if response.RF else response


@fault("initiator-ping-response-cookie-compared-by-low-16-bits", breaks="MQQB-2.2.7-23", blind=True)
class InitiatorPingResponseCookieComparedByLow16Bits(Ping):
    """The initiator accepts a Ping Response whose Cookie equals PingCookie only in its low 16 bits."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        if data[4:6] == cookie[:2]:
            data = data[:4] + cookie + data[8:]
        super().receive_response(data, now)


@fault("acceptor-ping-response-rf-clear-while-offline", breaks="MQQB-2.2.7-04", blind=True)
class AcceptorPingResponseRfClearWhileOffline(Ping):
    """The acceptor clears RF in a Ping Response while it is offline and refuses every session."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return response if self.qm.adm.ConnectionActive else replace(response, Flags=PingPacket.flags(RC=response.RC))
