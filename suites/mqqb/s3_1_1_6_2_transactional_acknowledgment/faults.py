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


@fault("routed-in-order-only", breaks=("MQQB-3.1.1.6.2-02", "MQDMPR-3.1.7.1.31-D04"))
class RoutedInOrderOnly(Routing):
    """A queue manager on the way passes on only what is in sequence."""

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


@fault("session-ack-discards-transactional", breaks="MQQB-3.1.1.6.2-09")
class SessionAckDiscardsTransactional(TransactionalSending):
    """A session acknowledgment discards transactional messages."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


@fault("ordered-kept-until-session-ack", breaks="MQQB-3.1.1.6.2-10")
class OrderedKeptUntilSessionAck(TransactionalSending):
    """A transactional message is kept until its session acknowledges it, not until its OrderAck."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().retain(session, position)
        session.OutgoingMessageTable.remove(position)
        self.leave_sequence(session, position)


@fault("order-ack-of-the-highest-number", breaks="MQQB-3.1.1.6.2-D01")
class OrderAckOfTheHighestNumber(InSequence):
    """An OrderAck has the highest number that came, in order or not."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        follows = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        if not follows and header is not None:
            for transfer in session.order_acks_due:
                transfer.saved_number = max(transfer.saved_number, header.TxSequenceNumber)
        return follows


@fault("order-ack-names-a-number-that-was-rejected", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class OrderAckNamesANumberThatWasRejected(InSequence):
    """A message beyond a gap is rejected, but the next OrderAck has its number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        for transfer in session.order_acks_due:
            if not accepted and transfer.saved_identifier == header.TxSequenceID:
                transfer.saved_number = max(transfer.saved_number, header.TxSequenceNumber)
        return accepted


@fault("routed-message-acknowledged", breaks=("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01"))
class RoutedMessageAcknowledged(Routing):
    """A queue manager on the way sends OrderAcks."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        super().route_message(session, packet, receipt, now)
        header = packet.TransactionHeader
        if header is not None:
            body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            name = f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)
