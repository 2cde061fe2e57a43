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
    "any-idle-session-not-closed",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"),
    "The queue manager does nothing when the Session Cleanup Timer expires.",
    skip(Closing.on_session_cleanup_timer),
)


@fault("any-used-session-closed-as-idle", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class AnyUsedSessionClosedAsIdle(Closing):
    """The queue manager closes a used session when the Session Cleanup Timer expires."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        session.SessionActive = False
        super().on_session_cleanup_timer(session, now)


@fault("any-session-active-not-reset", breaks=("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"))
class AnySessionActiveNotReset(Closing):
    """The queue manager never resets SessionActive to FALSE when the Session Cleanup Timer expires."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        session.SessionActive = True


@fault("any-used-session-closed-at-third-expiry", breaks="MQQB-3.1.6.2-03", blind=True)
class AnyUsedSessionClosedAtThirdExpiry(Closing):
    """The queue manager closes a session at the third expiry of its Session Cleanup Timer, even if the
    session was active.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._looks: dict[int, int] = {}

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        looks = self._looks[session.number] = self._looks.get(session.number, 0) + 1
        session.SessionActive = session.SessionActive and looks < 3
        super().on_session_cleanup_timer(session, now)
