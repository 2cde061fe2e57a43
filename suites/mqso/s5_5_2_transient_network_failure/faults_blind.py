"""Faults of MS-MQSO 5.5.2, by an author who had not seen the checks."""

from __future__ import annotations

from itertools import takewhile

from harness.faults.parts import fault
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

MAX_ATTEMPTS = 5


@fault("sender-gives-up-after-five-failed-connections", breaks="MQSO-5.5.2-D01", blind=True)
class SenderGivesUpAfterFiveFailedConnections(Closing):
    """A queue manager does not connect again after five failed attempts during one outage."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None:
            since = takewhile(
                lambda entry: entry.Status is not ConnectionStatus.ESTABLISHED, reversed(queue.ConnectionHistory)
            )
            failed = [entry for entry in since if entry.Status is ConnectionStatus.SOCKET_CONNECT_FAILURE]
            if len(failed) >= MAX_ATTEMPTS:
                return
        super().await_reconnect(session, now)
