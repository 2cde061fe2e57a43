"""Faults that break rules of MS-MQQB 3.1.5.9 Closing a Session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-session-of-paused-queue-session-state-stays-open", breaks="MQQB-3.1.5.9-02", blind=True)
class InitiatorSessionOfPausedQueueSessionStateStaysOpen(Closing):
    """The initiator leaves SessionState of a closed session at OPEN if the outgoing queue of the session is OnHold."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        was_open, queue = session.SessionState is SessionState.OPEN, session.OutgoingQueueReference
        super().close(session, reason, now)
        if was_open and session.initiator and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            session.SessionState = SessionState.OPEN
