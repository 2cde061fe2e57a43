"""Faults that break rules of MS-MQSO 5.1.1.2 Queues and Queue States."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("outgoing-queue-after-connect-fault-address-not-resolved", breaks="MQSO-5.1.1.2-D08", blind=True)
class OutgoingQueueAfterConnectFaultAddressNotResolved(Establishing):
    """After a failed connection, an outgoing queue does not return to the state Initializing: it connects again to
    the known addresses, and never resolves the address of its destination again.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer + 1 >= len(session.NextHopCollection):
            session.NextHopIndexer = -1
        super().on_session_retry_connect_timer(session, now)
