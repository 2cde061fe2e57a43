"""Faults of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody, TxSequenceID, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("router-message-out-of-order-dropped", breaks=("MQQB-3.1.1.6.2-02", "MQDMPR-3.1.7.1.31-D04"))
class RouterMessageOutOfOrderDropped(Routing):
    """A queue manager between source and destination forwards only messages in sequence."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.last: dict[TxSequenceID, int] = {}

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            before = self.last.get(header.TxSequenceID, 0)
            self.last[header.TxSequenceID] = header.TxSequenceNumber
            if header.TxSequenceNumber < before:
                receipt.done = True
                return
        super().route_message(session, packet, receipt, now)


@fault("sender-transactional-message-discarded-by-session-ack", breaks="MQQB-3.1.1.6.2-09")
class SenderTransactionalMessageDiscardedBySessionAck(TransactionalSending):
    """The sender discards a transactional message that a SessionAck acknowledges."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


@fault("sender-transactional-message-leaves-at-session-ack", breaks="MQQB-3.1.1.6.2-10")
class SenderTransactionalMessageLeavesAtSessionAck(TransactionalSending):
    """The sender removes a transactional message from its sequence when the SessionAck arrives, without waiting for an
    OrderAck.
    """

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().retain(session, position)
        session.OutgoingMessageTable.remove(position)
        self.leave_sequence(session, position)


@fault("receiver-order-ack-number-is-highest-received", breaks="MQQB-3.1.1.6.2-D01")
class ReceiverOrderAckNumberIsHighestReceived(InSequence):
    """The receiver's OrderAck has the highest number that arrived, even if the messages arrived out of order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        follows = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        if not follows and header is not None:
            for transfer in session.order_acks_due:
                transfer.saved_number = max(transfer.saved_number, header.TxSequenceNumber)
        return follows


@fault("receiver-order-ack-number-of-rejected-message", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckNumberOfRejectedMessage(InSequence):
    """The receiver's OrderAck has the number of a message that it rejected because of a gap."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        for transfer in session.order_acks_due:
            if not accepted and transfer.saved_identifier == header.TxSequenceID:
                transfer.saved_number = max(transfer.saved_number, header.TxSequenceNumber)
        return accepted


@fault("router-order-ack-sent", breaks=("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01"))
class RouterOrderAckSent(Routing):
    """A queue manager between source and destination sends an OrderAck for a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        super().route_message(session, packet, receipt, now)
        header = packet.TransactionHeader
        if header is not None:
            body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            name = f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)
