"""Faults of MS-MQQB 3.1.7.6 Send Ping Request that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-ping-timer-of-second-session-not-started", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorPingTimerOfSecondSessionNotStarted(Ping):
    """The initiator does not start the Ping Response Timer for a session while another session waits for a Ping
    Response.
    """

    def send_request(self, session: Session, now: Now) -> None:
        pending = any(one.opening is Opening.PING_RESPONSE for one in self.qm.sessions.values() if one is not session)
        super().send_request(session, now)
        if pending:
            self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)
