"""Faults of MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

add(
    "idle-session-never-closed",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"),
    "Nothing is done when the Session Cleanup Timer expires.",
    skip(Closing.on_session_cleanup_timer),
)


@fault("used-session-closed-as-idle", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class UsedSessionClosedAsIdle(Closing):
    """The Session Cleanup Timer closes sessions whether they were used or not."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        session.SessionActive = False
        super().on_session_cleanup_timer(session, now)


@fault("used-session-stays-active", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class UsedSessionStaysActive(Closing):
    """SessionActive is never set to FALSE again."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        session.SessionActive = True


@fault("used-session-closed-at-the-third-look", breaks="MQQB-3.1.6.2-03", blind=True)
class UsedSessionClosedAtTheThirdLook(Closing):
    """A session is closed when its Session Cleanup Timer expires for the third time, used or not."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._looks: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        looks = self._looks[session.number] = self._looks.get(session.number, 0) + 1
        session.SessionActive = session.SessionActive and looks < 3
        super().on_session_cleanup_timer(session, now)
