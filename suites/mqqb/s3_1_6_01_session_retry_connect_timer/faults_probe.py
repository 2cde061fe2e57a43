"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-second-expiry-of-retry-timer-without-attempt", breaks="MQQB-3.1.6.1-03", blind=True)
class InitiatorSecondExpiryOfRetryTimerWithoutAttempt(Establishing):
    """The initiator opens a session again only once: when the Session Retry Connect Timer of the session expires for
    the second time, and no further next hop is known, the initiator makes no attempt.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.retried: set[int] = set()

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_RECONNECT and len(session.OutgoingMessageTable) > 0
        if waiting and session.NextHopIndexer + 1 >= len(session.NextHopCollection):
            if session.number in self.retried:
                return
            self.retried.add(session.number)
        super().on_session_retry_connect_timer(session, now)
