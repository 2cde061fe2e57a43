"""Faults of MS-MQQB 3.1.6.8 Ping Response Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("ping-expiry-opens-the-session", breaks=("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"))
class ExpiryOpensTheSession(Ping):
    """When no Ping Response came in time the session is opened."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.connecting.connect_transport(session)
