"""Faults of MS-MQQB 2.2.4 OrderAck Packet, with 2.2.4.1 that need two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo


def _get_first_transfer(transfer: IncomingTransactionalTransferInfo) -> IncomingTransactionalTransferInfo:
    """Return the transfer of the sender that was the first to send a transactional message to the same queue."""
    return next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))


@fault("receiver-order-ack-sequence-of-first-sender", breaks="MQQB-2.2.4.1-01")
class ReceiverOrderAckSequenceOfFirstSender(OrderAcks):
    """TxSequenceID of every OrderAck is that of the first sender's sequence."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        return replace(super().build(transfer), TxSequenceID=_get_first_transfer(transfer).saved_identifier)


@fault("receiver-order-ack-number-of-first-sender", breaks="MQQB-2.2.4.1-02")
class ReceiverOrderAckNumberOfFirstSender(OrderAcks):
    """TxSequenceNumber of every OrderAck is that of the last message from the first sender."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        return replace(super().build(transfer), TxSequenceNumber=_get_first_transfer(transfer).saved_number)
