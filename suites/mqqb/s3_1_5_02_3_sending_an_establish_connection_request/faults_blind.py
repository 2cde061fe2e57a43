"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet, by an author who saw no check."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


@fault("initiator-retried-request-without-connection-history", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorRetriedRequestWithoutConnectionHistory(Connecting):
    """The initiator adds no entry to ConnectionHistory for an EstablishConnection request that it sends in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if status is not ConnectionStatus.IN_PROCESS or not session.retrying:
            super().add_connection_history(session, status, now)
