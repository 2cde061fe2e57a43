"""Faults of MS-MQQB 3.1.6.9 Order Ack Send Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-last-order-ack-send-time-not-updated", breaks="MQQB-3.1.6.9-02")
class ReceiverLastOrderAckSendTimeNotUpdated(OrderAcks):
    """The receiver does not update LastOrderAckSendTime when it sends an OrderAck."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        time_s = session.LastOrderAckSendTime
        super().on_send_timer(session, now)
        session.LastOrderAckSendTime = time_s
