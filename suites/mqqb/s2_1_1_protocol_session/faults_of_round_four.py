"""Faults that break rules of MS-MQQB 2.1.1 Protocol Session, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault(
    "initiator-session-ack-missing-when-send-timer-expires", breaks=("MQQB-2.1.1-D01", "MQQB-3.1.1.6.1-D01"), blind=True
)
class InitiatorSessionAckMissingWhenSendTimerExpires(SessionAcks):
    """The initiator sends no SessionAck when its Session Ack Send Timer expires after it received messages."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().on_order_ack_send_timer(session, now)
