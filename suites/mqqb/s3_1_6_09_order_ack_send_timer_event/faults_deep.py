"""Faults of MS-MQQB 3.1.6.9 Order Ack Send Timer Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-last-order-ack-send-time-of-first-ack", breaks="MQQB-3.1.6.9-02", blind=True)
class ReceiverLastOrderAckSendTimeOfFirstAck(OrderAcks):
    """The receiver sets LastOrderAckSendTime only when it sends the first OrderAck of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.times: dict[Session, int] = {}

    def on_send_timer(self, session: Session, now: Now) -> None:
        super().on_send_timer(session, now)
        session.LastOrderAckSendTime = self.times.setdefault(session, session.LastOrderAckSendTime)


@fault("receiver-order-ack-timer-of-first-acks-only", breaks="MQQB-3.1.6.9-01", blind=True)
class ReceiverOrderAckTimerOfFirstAcksOnly(OrderAcks):
    """The receiver sends OrderAcks only at the first expiry of the Order Ack Send Timer of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: set[int] = set()

    def on_send_timer(self, session: Session, now: Now) -> None:
        if session.number not in self.expired:
            self.expired.add(session.number)
            super().on_send_timer(session, now)
