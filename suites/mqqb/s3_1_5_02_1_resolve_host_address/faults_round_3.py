"""Faults that break rules of MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session


@fault("initiator-no-next-hop-at-retry-state-not-need-validation", breaks="MQQB-3.1.5.2.1-21", blind=True)
class InitiatorNoNextHopAtRetryStateNotNeedValidation(Resolving):
    """The initiator leaves State of the outgoing queue at Disconnected if it finds no next hop when the Session Retry
    Connect Timer has expired.
    """

    def require_validation(self, session: Session) -> None:
        if not session.retrying:
            super().require_validation(session)
