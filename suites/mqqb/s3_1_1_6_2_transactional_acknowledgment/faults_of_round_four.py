"""Faults that break rules of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment, written without knowledge of the
checks.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-for-repeated-message-missing", breaks="MQQB-3.1.1.6.2-07", blind=True)
class ReceiverOrderAckForRepeatedMessageMissing(OrderAcks):
    """If an earlier OrderAck has already acknowledged all messages that arrived since then, the receiver sends no
    OrderAck when the Order Ack Send Timer expires.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.acknowledged: dict[IncomingTransactionalTransferInfo, tuple[int, int]] = {}

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        for transfer in list(session.order_acks_due):
            place = (int(transfer.saved_sequence_identifier), transfer.saved_sequence_number)
            if self.acknowledged.get(transfer) == place:
                del session.order_acks_due[transfer]
            self.acknowledged[transfer] = place
        super().on_order_ack_send_timer(session, now)
