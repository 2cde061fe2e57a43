"""Faults of MS-MQQB 3.1.6.9 Order Ack Send Timer Event that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import get_newest_session


@fault("receiver-order-ack-only-to-newest-sender", breaks="MQQB-3.1.6.9-01")
class ReceiverOrderAckOnlyToNewestSender(OrderAcks):
    """When several sessions are open, the receiver sends OrderAcks only on the newest session."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        if get_newest_session(self.qm, session) is session:
            super().on_send_timer(session, now)
