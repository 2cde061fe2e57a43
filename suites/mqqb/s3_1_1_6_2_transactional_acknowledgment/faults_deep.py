"""Faults of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, OutgoingMessagePosition, Session


@fault("receiver-order-ack-after-gap-names-number-after-gap", breaks="MQQB-3.1.1.6.2-03", blind=True)
class ReceiverOrderAckAfterGapNamesNumberAfterGap(OrderAcks):
    """The receiver adds the number of messages that it rejected to TxSequenceNumber of the next OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = body.TxSequenceNumber + transfer.RejectCount
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-ack-number-one-less-with-several-messages", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckNumberOneLessWithSeveralMessages(OrderAcks):
    """When several messages await an OrderAck, the receiver sends the number of the second-to-last message as
    TxSequenceNumber of the OrderAck.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        last = self.__dict__.setdefault("last", {})
        number = body.TxSequenceNumber
        if number - last.get(id(transfer), 0) > 1:
            body = replace(body, TxSequenceNumber=number - 1, TxPreviousSequenceNumber=number - 2)
        last[id(transfer)] = number
        return body


@fault("sender-journaled-message-deleted-by-order-ack-before-session-ack", breaks="MQQB-3.1.1.6.2-11", blind=True)
class SenderJournaledMessageDeletedByOrderAckBeforeSessionAck(TransactionalSending):
    """If the session acknowledgment of a message with JP arrives after its OrderAck, the sender does not keep the
    message until the FinalAck arrives.
    """

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        ordered = position.ReceivedOrderAck
        super().retain(session, position)
        if ordered:
            session.AwaitingFinalACKTable.pop(position.UserMessage.UserHeader.MessageID, None)


@fault("sender-message-of-second-queue-deleted-by-session-ack", breaks="MQQB-3.1.1.6.2-10", blind=True)
class SenderMessageOfSecondQueueDeletedBySessionAck(TransactionalSending):
    """The sender deletes a transactional message of its second outgoing queue when a session acknowledgment arrives."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().retain(session, position)
        queues = list(self.qm.adm.OutgoingQueues.values())
        if session.OutgoingQueueReference is not queues[0]:
            session.OutgoingMessageTable.remove(position)
