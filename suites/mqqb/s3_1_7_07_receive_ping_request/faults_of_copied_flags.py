"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request: Ping Responses that are copies of some of the requests."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.states import SessionState

REFUSAL_FLAG_RF_OF_PING = PingPacket.flags(RF=1)


@fault("acceptor-ping-response-beside-open-session-copies-rf", breaks="MQQB-3.1.7.7-04", blind=True)
class AcceptorPingResponseBesideOpenSessionCopiesRf(PingHandling):
    """The acceptor copies RF of the Ping Request into the Ping Response while a session is open."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if any(one.SessionState is SessionState.OPEN for one in self.qm.sessions.values()):
            return replace(response, Flags=response.Flags | request.Flags & REFUSAL_FLAG_RF_OF_PING)
        return response


@fault("acceptor-ping-response-with-rc-copies-rf", breaks="MQQB-3.1.7.7-04", blind=True)
class AcceptorPingResponseWithRcCopiesRf(PingHandling):
    """The acceptor copies RF of the Ping Request into the Ping Response if RC is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return (
            replace(response, Flags=response.Flags | request.Flags & REFUSAL_FLAG_RF_OF_PING)
            if request.RC
            else response
        )


@fault("acceptor-later-ping-response-copies-rf", breaks="MQQB-3.1.7.7-04", blind=True)
class AcceptorLaterPingResponseCopiesRf(PingHandling):
    """The acceptor copies RF of each Ping Request except the first into the Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        later = self.__dict__.get("answered", False)
        self.__dict__["answered"] = True
        return replace(response, Flags=response.Flags | request.Flags & REFUSAL_FLAG_RF_OF_PING) if later else response
