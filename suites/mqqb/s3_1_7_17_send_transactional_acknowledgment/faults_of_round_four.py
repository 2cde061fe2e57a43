"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment that depend on the state of the session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-without-open-session-not-sent", breaks="MQQB-3.1.7.17-11", blind=True)
class ReceiverFinalAckWithoutOpenSessionNotSent(OrderAcks):
    """The receiver discards a FinalAck if no session to its destination is open, although the destination can be
    opened.
    """

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        order_ack = message_class is MessageClass.MQMSG_CLASS_ORDER_ACK
        if order_ack or self._find_queue_of_open_session(name) is not None:
            super().send_transactional_ack(name, message_class, body, now)
