"""Faults of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment: forwarded messages, and rejected messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody, PrivateName, UserMessagePacket
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    MessagePosition,
    OutgoingMessagePosition,
    OutgoingQueue,
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("router-order-ack-while-destination-is-not-connected", breaks="MQQB-3.1.1.6.2-01", blind=True)
class RouterOrderAckWhileDestinationIsNotConnected(MessageRouting):
    """The router sends an OrderAck for a message that it cannot forward at once."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        queue, header = position.QueueReference, packet.TransactionHeader
        assert isinstance(queue, OutgoingQueue)
        waits = queue.session.SessionState is not SessionState.OPEN
        super().forward_message(position, packet, now)
        if header is not None and waits:
            name = str(PrivateName(packet.UserHeader.SourceQueueManager, ORDER_QUEUE_NUMBER))
            body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


@fault("router-order-ack-for-each-second-forwarded-message", breaks="MQQB-3.1.1.6.2-01", blind=True)
class RouterOrderAckForEachSecondForwardedMessage(MessageRouting):
    """The router sends an OrderAck for every second transactional message that it forwards."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        header = packet.TransactionHeader
        if header is not None:
            self.count += 1
            if self.count % 2 == 0:
                name = str(PrivateName(packet.UserHeader.SourceQueueManager, ORDER_QUEUE_NUMBER))
                body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
                self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


@fault("sender-transactional-message-discarded-on-later-session", breaks="MQQB-3.1.1.6.2-09", blind=True)
class SenderTransactionalMessageDiscardedOnLaterSession(TransactionalSending):
    """The sender discards a transactional message when a SessionAck acknowledges a copy on a later session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.acknowledged: set[OutgoingMessagePosition] = set()

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position in self.acknowledged and not position.ReceivedOrderAck:
            session.OutgoingMessageTable.remove(position)
            self.remove_message_from_sequence(session, position)
            return
        self.acknowledged.add(position)
        super().keep_message_until_order_ack(session, position)


@fault("sender-journaled-transactional-message-discarded-by-session-ack", breaks="MQQB-3.1.1.6.2-09", blind=True)
class SenderJournaledTransactionalMessageDiscardedBySessionAck(TransactionalSending):
    """When a SessionAck acknowledges a transactional message with JP, the sender journals and discards the message."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.UserMessage.UserHeader.JP and not position.ReceivedOrderAck:
            session.OutgoingMessageTable.remove(position)
            self.remove_message_from_sequence(session, position)
            self.qm.message_journaling.journal_delivered_message(position.MessagePosition)
            return
        super().keep_message_until_order_ack(session, position)


class _OrderAckAfterRejectionFault(TransactionalReceiving):
    """A base class of faults in the OrderAck after a message that was rejected."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().receive_transactional_message(session, packet, receipt, now)
        header = packet.TransactionHeader
        queue = self.qm.message_arrival.find_destination(packet)
        if header is None or queue is None:
            return
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            if transfer.saved_sequence_identifier == header.TxSequenceID and session.TxMessageRejectCount:
                self.change_number(transfer, header.TxSequenceNumber, header.PreviousTxSequenceNumber)

    def change_number(self, transfer: IncomingTransactionalTransferInfo, number: int, previous: int) -> None:
        """Change the number that the next OrderAck contains."""
        raise NotImplementedError


@fault("receiver-order-ack-after-repeated-message-with-its-number", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckAfterRepeatedMessageWithItsNumber(_OrderAckAfterRejectionFault):
    """The OrderAck after a repeated earlier message contains the number of that message."""

    def change_number(self, transfer: IncomingTransactionalTransferInfo, number: int, previous: int) -> None:
        transfer.saved_sequence_number = min(transfer.saved_sequence_number, number)


@fault("receiver-order-ack-after-gap-contains-number-of-missing-message", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckAfterGapContainsNumberOfMissingMessage(_OrderAckAfterRejectionFault):
    """The OrderAck after a message that follows a gap contains the number of the missing predecessor."""

    def change_number(self, transfer: IncomingTransactionalTransferInfo, number: int, previous: int) -> None:
        transfer.saved_sequence_number = max(transfer.saved_sequence_number, previous)
