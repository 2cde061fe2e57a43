"""Faults of MS-MQQB 3.1.5.9 Closing a Session that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault("closed-session-closes-connection-of-other-session", breaks="MQQB-3.1.5.9-D02")
class ClosedSessionClosesConnectionOfOtherSession(Closing):
    """When the queue manager closes a session, it closes the transport connections of all open sessions."""

    def close_transport(self, session: Session, reason: str) -> None:
        for other in list_open_sessions(self.qm, session):
            super().close_transport(other, reason)
        super().close_transport(session, reason)
