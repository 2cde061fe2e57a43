"""Faults that break rules of MS-MQQB 3.1.5.2.1 Resolve Host Address, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-retry-timer-not-started-after-second-missing-route", breaks="MQQB-3.1.5.2.1-20", blind=True)
class InitiatorRetryTimerNotStartedAfterSecondMissingRoute(SessionAddressResolving):
    """The initiator does not start the Session Retry Connect Timer if a retry again finds no next hop to the
    destination.
    """

    def _fail_to_route(self, session: Session, why: str, now: Now) -> None:
        super()._fail_to_route(session, why, now)
        if session.is_retrying_connection and why.startswith("there is no route"):
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)
