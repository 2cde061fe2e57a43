"""Faults of a queue manager that is taken offline while it tries next hops: MQDMPR-3.1.4.12-03."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-tries-further-next-hop-while-offline", breaks="MQDMPR-3.1.4.12-03")
class InitiatorTriesFurtherNextHopWhileOffline(SessionEstablishing):
    """A queue manager that is offline tries a further next hop when the Session Retry Connect Timer expires, but does
    not begin with the first next hop again.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        online = self.qm.adm.ConnectionActive
        self.qm.adm.ConnectionActive = online or session.NextHopIndexer + 1 < len(session.NextHopCollection)
        super().on_session_retry_connect_timer(session, now)
        self.qm.adm.ConnectionActive = online
