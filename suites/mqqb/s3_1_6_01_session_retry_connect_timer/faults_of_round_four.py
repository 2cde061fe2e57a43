"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event that depend on the number of attempts."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

CONNECTION_ATTEMPT_LIMIT = 3


@fault("initiator-session-not-retried-after-three-attempts", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorSessionNotRetriedAfterThreeAttempts(SessionEstablishing):
    """The initiator connects again only three times in succession, although messages still wait."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.attempts: dict[tuple[int, int], int] = {}

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        opened = sum(entry.Status is ConnectionStatus.ESTABLISHED for entry in history)
        made = self.attempts.get((session.number, opened), 0)
        if made < CONNECTION_ATTEMPT_LIMIT:
            self.attempts[session.number, opened] = made + 1
            super().on_session_retry_connect_timer(session, now)
