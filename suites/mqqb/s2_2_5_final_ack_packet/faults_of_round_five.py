"""Faults of the fifth round that break rules of MS-MQQB 2.2.5 FinalAck Packet."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-of-expired-message-with-order-ack-body", breaks="MQQB-2.2.5-24", blind=True)
class ReceiverFinalAckOfExpiredMessageWithOrderAckBody(FinalAcks):
    """The receiver sends a MessageBody with the layout of an OrderAck Body in the FinalAck of a message that expired in
    its queue.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.order_queue is None or reason is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().send_final_ack_of_message(position, reason, now)
            return
        message = position.MessageReference
        body = OrderAckBody(
            message.TransactionalMessageSequenceIdentifier,
            message.TransactionSequenceNumber,
            message.TransactionPreviousSequenceNumber,
        )
        self.qm.order_acks.send_transactional_ack(position.order_queue, reason, body, now)


@fault("receiver-final-ack-tx-sequence-id-of-newest-sequence", breaks="MQQB-2.2.5.1-01", blind=True)
class ReceiverFinalAckTxSequenceIdOfNewestSequence(FinalAcks):
    """The receiver sends the TxSequenceID of the newest sequence of the sender in a FinalAck, although the acknowledged
    message belongs to an earlier sequence.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position = copy(position)
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().send_final_ack_of_message(position, reason, now)
