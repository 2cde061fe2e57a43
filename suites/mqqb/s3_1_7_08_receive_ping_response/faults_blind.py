"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, parse_ping
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import Opening
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-wrong-signature-restarts-ping-response-timer", breaks="MQQB-3.1.7.8-03", blind=True)
class InitiatorWrongSignatureRestartsPingResponseTimer(Ping):
    """The initiator restarts the Ping Response Timer when a datagram with a wrong Signature arrives."""

    def receive_response(self, data: bytes, now: Now) -> None:
        try:
            parse_ping(data)
        except FormatError:
            for session in self.qm.sessions.values():
                if session.opening is Opening.PING_RESPONSE:
                    duration_ms = self.qm.settings.ping_response_ms
                    self.qm.session_timers.start(session, TimerName.PING_RESPONSE, duration_ms, now)
        super().receive_response(data, now)
