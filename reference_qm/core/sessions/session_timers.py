from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


class SessionTimers(QueueManagerPart):
    """Starts and stops the timers of a session. Spec: MS-MQQB 3.1.2."""

    __slots__ = ()

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        """Start or restart a timer of a session.

        Spec: MS-MQQB 3.1.2. ``duration_ms`` is the duration in the document, before the time scale is applied.
        """
        self.qm.timers.start(TimerKey(name, session.number), now.monotonic_ms, duration_ms // self.qm.settings.scale)

    def stop(self, session: Session, name: TimerName) -> None:
        """Stop a timer of a session. Spec: MS-MQQB 3.1.2."""
        self.qm.timers.stop(TimerKey(name, session.number))
