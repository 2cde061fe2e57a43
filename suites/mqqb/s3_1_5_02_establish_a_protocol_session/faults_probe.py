"""Faults of MS-MQQB 3.1.5.2 Establish a Protocol Session, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import HRESULT_BY_CONNECTION_STATUS, Connecting, outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


@fault("initiator-entry-of-failure-with-error-of-previous-failure", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorEntryOfFailureWithErrorOfPreviousFailure(Connecting):
    """The initiator sets Error of the ConnectionHistory entry of a failed attempt to the HRESULT of the previous
    failure of the queue, if the queue had an earlier failure.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = outgoing_queue(session).ConnectionHistory
        previous = next((entry.Error for entry in reversed(history) if entry.Error), 0)
        super().add_connection_history(session, status, now)
        if previous and HRESULT_BY_CONNECTION_STATUS[status]:
            history[-1] = replace(history[-1], Error=previous)
