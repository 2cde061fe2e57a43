"""Faults of MS-MQQB 3.1.5.2.1 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session


@fault("initiator-session-remote-guid-of-destination-behind-router", breaks="MQQB-3.1.5.2.1-37", blind=True)
class GuidOfDestination(Resolving):
    """The initiator sets RemoteQMGuid to the identifier of the destination's queue manager, even if the next hop is a
    router with a different QMGuid.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.destination != NULL_GUID:
            session.RemoteQMGuid = session.destination
