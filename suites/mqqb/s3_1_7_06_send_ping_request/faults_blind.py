"""Faults of MS-MQQB 3.1.7.6 Send Ping Request, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-second-ping-stops-ping-response-timer-of-first", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorSecondPingStopsPingResponseTimerOfFirst(Ping):
    """The initiator has one Ping Response Timer for all Ping Requests: when it starts the timer for a new Ping Request,
    the timer of the earlier Ping Request never expires.
    """

    def send_request(self, session: Session, now: Now) -> None:
        for other in self.qm.sessions.values():
            if other.opening is Opening.PING_RESPONSE:
                self.qm.session_timers.stop(other, TimerName.PING_RESPONSE)
        super().send_request(session, now)


@fault("initiator-rf-of-ping-response-ignored-for-private-name", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorRfOfPingResponseIgnoredForPrivateName(Ping):
    """The initiator opens a session for a private or public format name although RF of the Ping Response is set."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if not session.direct:
            response = replace(response, Flags=0)
        super().response_processed(session, response, now)
