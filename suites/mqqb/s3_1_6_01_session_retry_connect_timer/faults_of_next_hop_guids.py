"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event: RemoteQMGuid after several retries."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.model.adm import Session


@fault("initiator-remote-guid-of-third-next-hop-unchanged", breaks="MQQB-3.1.6.1-08", blind=True)
class InitiatorRemoteGuidOfThirdNextHopUnchanged(SessionAddressResolving):
    """The initiator sets RemoteQMGuid only at the first retry, and keeps it when it selects a third next hop."""

    def select_next_hop(self, session: Session) -> None:
        before = session.RemoteQMGuid
        super().select_next_hop(session)
        if session.NextHopIndexer > 1:
            session.RemoteQMGuid = before
