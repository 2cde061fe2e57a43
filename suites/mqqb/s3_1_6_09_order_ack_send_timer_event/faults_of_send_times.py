"""Faults of MS-MQQB 3.1.6.9 Order Ack Send Timer Event: LastOrderAckSendTime after several OrderAcks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-last-order-ack-send-time-on-own-session-unchanged", breaks="MQQB-3.1.6.9-02", blind=True)
class ReceiverLastOrderAckSendTimeOnOwnSessionUnchanged(OrderAcks):
    """The receiver does not set LastOrderAckSendTime of a session that it opened itself."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        before = session.LastOrderAckSendTime
        super().on_order_ack_send_timer(session, now)
        if session.initiator:
            session.LastOrderAckSendTime = before


@fault("receiver-last-order-ack-send-time-of-repeated-order-ack-unchanged", breaks="MQQB-3.1.6.9-02", blind=True)
class ReceiverLastOrderAckSendTimeOfRepeatedOrderAckUnchanged(OrderAcks):
    """The receiver does not set LastOrderAckSendTime for an OrderAck with the TxSequenceNumber of the previous one."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.numbers: dict[int, list[int]] = {}

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        before, numbers = session.LastOrderAckSendTime, [one.saved_sequence_number for one in session.order_acks_due]
        super().on_order_ack_send_timer(session, now)
        if self.numbers.get(session.number) == numbers:
            session.LastOrderAckSendTime = before
        self.numbers[session.number] = numbers
