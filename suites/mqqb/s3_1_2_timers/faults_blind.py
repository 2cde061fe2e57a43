"""Faults of MS-MQQB 3.1.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.core.sessions.session_opening import (
    SessionOpening,
)
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

add(
    "acceptor-session-initialization-timer-not-restarted-by-response",
    "MQQB-3.1.2.1-D01",
    "The acceptor does not start the Session Initialization Timer when it sends the EstablishConnection "
    "response; the timer that started with the connection continues to run.",
    skip_during(SessionOpening.receive_establish_request, SessionTimers.start),
    blind=True,
)


@fault("acceptor-session-ack-wait-timer-of-own-default", breaks="MQQB-3.1.2.4-01", blind=True)
class AcceptorSessionAckWaitTimerOfOwnDefault(SessionAcks):
    """An acceptor that waits for an acknowledgment uses its default timeout instead of the AckWaitTimeout that the
    initiator sent.
    """

    def start_wait_timer(self, session: Session, now: Now) -> None:
        agreed = session.AckWaitTimeout
        if not session.initiator:
            session.AckWaitTimeout = self.qm.settings.ack_wait_timeout_ms
        super().start_wait_timer(session, now)
        session.AckWaitTimeout = agreed
