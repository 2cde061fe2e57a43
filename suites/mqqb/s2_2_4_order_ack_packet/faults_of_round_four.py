"""Faults that break rules of MS-MQQB 2.2.4 OrderAck Packet, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo


@fault("receiver-order-ack-contains-highest-number-of-all-sequences", breaks="MQQB-2.2.4.1-02", blind=True)
class ReceiverOrderAckContainsHighestNumberOfAllSequences(OrderAcks):
    """The receiver's OrderAck of a later sequence of a sender contains the highest TxSequenceNumber that it has
    received in any sequence of this sender.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.highest: dict[IncomingTransactionalTransferInfo, int] = {}

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = max(body.TxSequenceNumber, self.highest.get(transfer, 0))
        self.highest[transfer] = number
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)
