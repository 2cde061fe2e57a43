"""Faults that break rules of MS-MQQB 2.2.4 OrderAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import (
    MessageClass,
    OrderAckBody,
    PrivateName,
    PrivateQueueFormatNameId,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, OutgoingMessagePosition, Session


@fault("receiver-order-ack-destination-queue-private-admin-queue", breaks="MQQB-2.2.4-04", blind=True)
class ReceiverOrderAckDestinationQueuePrivateAdminQueue(Sending):
    """The receiver puts the number of the private administration queue that the acknowledged message names into
    DestinationQueue of an OrderAck with DQ 3.
    """

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        message = position.MessagePosition.MessageReference
        queue = packet.UserHeader.DestinationQueue
        if message.Class == MessageClass.MQMSG_CLASS_ORDER_ACK and isinstance(queue, PrivateQueueFormatNameId):
            acknowledged = self._find_acknowledged(message)
            admin = None if acknowledged is None else acknowledged.AdministrationQueueFormatName
            name = None if admin is None else parse_format_name(admin)
            if isinstance(name, PrivateName) and name.ComputerGuid == packet.UserHeader.QueueManagerAddress:
                number = PrivateQueueFormatNameId(name.QueueIdentifier)
                packet = replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=number))
        super().transmit(session, position, packet)

    def _find_acknowledged(self, order_ack: Message) -> Message | None:
        body = OrderAckBody.parse(order_ack.Body)
        wanted = (body.TxSequenceID, body.TxSequenceNumber)
        for queue in self.qm.adm.QueueCollection.values():
            for position in queue.MessagePositionList:
                message = position.MessageReference
                if (message.TransactionalMessageSequenceIdentifier, message.TransactionSequenceNumber) == wanted:
                    return message
        return None


@fault("receiver-order-ack-tx-previous-sequence-number-across-gap", breaks="MQQB-2.2.4.1-03", blind=True)
class ReceiverOrderAckTxPreviousSequenceNumberAcrossGap(OrderAcks):
    """The receiver sets TxPreviousSequenceNumber of an OrderAck to PreviousTxSequenceNumber of the acknowledged
    message, which is lower than TxSequenceNumber minus one if the sequence has a gap.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        wanted = (body.TxSequenceID, body.TxSequenceNumber)
        for position in transfer.QueueReference.MessagePositionList:
            message = position.MessageReference
            if (message.TransactionalMessageSequenceIdentifier, message.TransactionSequenceNumber) == wanted:
                return replace(body, TxPreviousSequenceNumber=message.TransactionPreviousSequenceNumber)
        return body
