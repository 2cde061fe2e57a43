"""Faults that break rules of MS-MQQB 3.1.7.8."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, parse_ping
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import ConnectionStatus, Opening, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-second-ping-response-with-rf-ends-session", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorSecondPingResponseWithRfEndsSession(Ping):
    """The initiator ends the session, or the attempt to establish the session, when a further Ping Response to its
    last Ping Request has RF set.
    """

    def receive_response(self, data: bytes, now: Now) -> None:
        waiting = {one.number for one in self.qm.sessions.values() if one.opening is Opening.PING_RESPONSE}
        super().receive_response(data, now)
        try:
            response = parse_ping(data)
        except FormatError:
            return
        if not response.RF or response.Cookie != self.qm.adm.PingCookie:
            return
        for session in list(self.qm.sessions.values()):
            idle = session.number in waiting or session.SessionState is SessionState.WAITING_RECONNECT
            if session.initiator and session.pinged and session.ping_cookie == response.Cookie and not idle:
                reason = "the Ping Response announces that a session would be refused (MS-MQQB 3.1.7.6)"
                self.qm.closing.fail_to_establish(session, ConnectionStatus.PING_FAILURE, reason, now)
