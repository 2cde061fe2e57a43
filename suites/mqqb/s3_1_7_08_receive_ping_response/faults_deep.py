"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import Opening
from reference_qm.surface.clock import Now


@fault("initiator-ping-response-cookie-compared-by-16-bits", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingResponseCookieComparedBy16Bits(Ping):
    """The initiator accepts a Ping Response if only the lower 16 bits of its Cookie equal those of PingCookie."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie
        if len(data) == 24 and int.from_bytes(data[4:6], "little") == cookie & 0xFFFF:
            data = data[:4] + cookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


@fault("initiator-wrong-ping-response-ends-the-wait", breaks=("MQQB-3.1.7.8-03", "MQQB-3.1.7.8-04"), blind=True)
class InitiatorWrongPingResponseEndsTheWait(Ping):
    """The initiator abandons its attempt when it receives a datagram that is not the response to its Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        waiting = [one for one in self.qm.sessions.values() if one.opening is Opening.PING_RESPONSE]
        super().receive_response(data, now)
        for session in waiting:
            if session.opening is Opening.PING_RESPONSE:
                self.on_response_timer(session, now)
