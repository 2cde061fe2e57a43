"""Faults that break rules of MS-MQDMPR 3.1.4.11 DTC Reenlistment Timeout."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-reconnects-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class SenderReconnectsAfterReenlistmentTimeout(Establishing):
    """After the Reenlistment Timeout, the sender still connects for outgoing messages when the Session Retry Connect
    Timer expires.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        adm = self.qm.adm
        active = adm.ConnectionActive
        adm.ConnectionActive = active or self.qm.halted is not None
        super().on_session_retry_connect_timer(session, now)
        adm.ConnectionActive = active
