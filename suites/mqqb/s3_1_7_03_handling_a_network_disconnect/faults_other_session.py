"""Faults of MS-MQQB 3.1.7.3 Handling a Network Disconnect that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault("lost-connection-closes-all-sessions", breaks="MQQB-3.1.7.3-01")
class LostConnectionClosesAllSessions(Closing):
    """When the transport connection of one session is lost, the queue manager closes all sessions."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for other in list_open_sessions(self.qm, session):
            self.close(other, reason, now)
        super().on_transport_lost(session, reason, now)
