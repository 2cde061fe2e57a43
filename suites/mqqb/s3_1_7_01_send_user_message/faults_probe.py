"""Faults of MS-MQQB 3.1.7.1 Send User Message Event, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("sender-session-of-lost-connection-closed-without-retry-timer", breaks="MQQB-3.1.7.1.6-06", blind=True)
class SenderSessionOfLostConnectionClosedWithoutRetryTimer(Closing):
    """When the connection of a session is lost, the sender does not start the Session Retry Connect Timer as the last
    step of closing the session, although messages wait.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)
