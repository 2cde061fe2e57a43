"""Faults of round five that break rules of MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling


@fault("acceptor-ping-response-rf-kept-after-session-limit", breaks="MQQB-3.1.7.7-05", blind=True)
class AcceptorPingResponseRfKeptAfterSessionLimit(PingHandling):
    """After it has sent a Ping Response with RF set because of its limit of sessions, the acceptor also sets RF in
    later Ping Responses, although a session has ended and it would accept another one.
    """

    was_full = False

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if response.RF and self.qm.session_connecting.may_connect():
            self.was_full = True
        if self.was_full:
            return PingPacket(
                Flags=PingPacket.flags(RC=response.RC, RF=1), Cookie=response.Cookie, QMGuid=response.QMGuid
            )
        return response
