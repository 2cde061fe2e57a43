"""Faults of MS-MQQB 2.2.4 OrderAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-tx-sequence-number-of-other-sequence", breaks="MQQB-2.2.4.1-02", blind=True)
class ReceiverOrderAckTxSequenceNumberOfOtherSequence(OrderAcks):
    """When the OrderAcks of two sequences are due at the same time, the receiver puts the number of the last sequence
    into both OrderAcks.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: int | None = None

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.last = next((one.saved_number for one in reversed(session.order_acks_due) if one.saved_number), None)
        super().on_send_timer(session, now)
        self.last = None

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        if self.last is None:
            return body
        return replace(body, TxSequenceNumber=self.last, TxPreviousSequenceNumber=self.last - 1)
