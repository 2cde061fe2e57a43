"""Faults that break rules of MS-MQQB 2.2.7."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import Opening
from reference_qm.surface.clock import Now

BIT_10 = 1 << 10
SIZE = 24


@fault("acceptor-ping-response-rc-clear-if-request-has-rc-and-bit-10", breaks="MQQB-2.2.7-14", blind=True)
class AcceptorPingResponseRcClearIfRequestHasRcAndBit10(Ping):
    """The acceptor does not copy RC into the Ping Response if bit 10 of Flags in the Ping Request is also set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags & ~1) if request.Flags & BIT_10 else response


@fault("initiator-ping-response-with-wrong-signature-ends-attempt", breaks="MQQB-2.2.7-21", blind=True)
class InitiatorPingResponseWithWrongSignatureEndsAttempt(Ping):
    """The initiator ends the attempt to connect when a Ping Response with a wrong Signature and the right Cookie
    arrives.
    """

    def receive_response(self, data: bytes, now: Now) -> None:
        signature, cookie = int.from_bytes(data[2:4], "little"), int.from_bytes(data[4:8], "little")
        if len(data) == SIZE and signature != PingPacket.Signature:
            for session in list(self.qm.sessions.values()):
                if session.opening is Opening.PING_RESPONSE and session.ping_cookie == cookie:
                    self.on_response_timer(session, now)
        super().receive_response(data, now)
