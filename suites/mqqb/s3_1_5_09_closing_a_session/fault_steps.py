"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now


class SessionClosingChangedForSomeReasons(SessionClosing):
    """Changes a session when the queue manager closes the session for one of the selected reasons."""

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.5.5.5" in reason

    def close(self, session: Session, reason: str, now: Now) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.State
        super().close(session, reason, now)
        if self.is_closing_reason_of_fault(reason):
            self.change(session, before, now)

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        raise NotImplementedError
