"""Faults that break rules of MS-MQQB 3.1.1.6.2 Transactional Acknowledgment."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody, SessionHeader, TxSequenceID, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    OutgoingMessagePosition,
    RecoverableReceipt,
    Session,
)
from reference_qm.surface.clock import Now


@fault("router-order-ack-sent-for-forwarded-message", breaks=("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01"))
class RouterOrderAckSentForForwardedMessage(MessageRouting):
    """A queue manager between source and destination sends an OrderAck for a message that it forwards."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        super().route_message(session, packet, receipt, now)
        header = packet.TransactionHeader
        if header is not None:
            body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            name = f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


@fault("router-message-out-of-order-dropped", breaks=("MQQB-3.1.1.6.2-02", "MQDMPR-3.1.7.1.31-D04"))
class RouterMessageOutOfOrderDropped(MessageRouting):
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
                receipt.is_on_disk = True
                return
        super().route_message(session, packet, receipt, now)


@fault("receiver-order-ack-includes-discarded-message-after-filled-gap", breaks="MQQB-3.1.1.6.2-03")
class ReceiverOrderAckIncludesDiscardedMessageAfterFilledGap(OrderAcks):
    """After a missing message has arrived, the receiver acknowledges a later message that it discarded because of the
    gap.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        rejected = self.__dict__.setdefault("rejected", {})
        if transfer.RejectCount:
            rejected[transfer] = transfer.saved_sequence_number
            return body
        if transfer in rejected and transfer.saved_sequence_number == rejected[transfer] + 1:
            number = body.TxSequenceNumber + 1
            return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)
        return body


@fault("receiver-order-ack-timer-stopped-by-rejected-message", breaks="MQQB-3.1.1.6.2-06")
class ReceiverOrderAckTimerStoppedByRejectedMessage(TransactionalReceiving):
    """The receiver stops the Order Ack Send Timer when it rejects a message that is out of sequence."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        session.order_acks_due.clear()


@fault("sender-transactional-message-discarded-by-session-ack", breaks="MQQB-3.1.1.6.2-09")
class SenderTransactionalMessageDiscardedBySessionAck(TransactionalSending):
    """The sender discards a transactional message that a SessionAck acknowledges."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


@fault("sender-second-transactional-message-discarded-by-session-ack", breaks="MQQB-3.1.1.6.2-09")
class SenderSecondTransactionalMessageDiscardedBySessionAck(SessionAcks):
    """The sender discards the second and later transactional messages of a sequence when a SessionAck acknowledges
    them.
    """

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged_messages(session, header)
        for position in list(session.OutgoingMessageTable):
            if position.ReceivedSessionAck and position.TxSequenceNumber > 1:
                self.delete_position(session, position)


@fault("sender-transactional-message-leaves-sequence-at-session-ack", breaks="MQQB-3.1.1.6.2-10")
class SenderTransactionalMessageLeavesSequenceAtSessionAck(TransactionalSending):
    """The sender removes a transactional message from its sequence when the SessionAck arrives, without waiting for an
    OrderAck.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().keep_message_until_order_ack(session, position)
        session.OutgoingMessageTable.remove(position)
        self.remove_message_from_sequence(session, position)


@fault("sender-message-of-second-queue-deleted-by-session-ack", breaks="MQQB-3.1.1.6.2-10", blind=True)
class SenderMessageOfSecondQueueDeletedBySessionAck(TransactionalSending):
    """The sender deletes a transactional message of its second outgoing queue when a session acknowledgment arrives."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().keep_message_until_order_ack(session, position)
        queues = list(self.qm.adm.OutgoingQueues.values())
        if session.OutgoingQueueReference is not queues[0]:
            session.OutgoingMessageTable.remove(position)


@fault("sender-message-with-jn-only-not-retained", breaks="MQQB-3.1.1.6.2-11", blind=True)
class SenderMessageWithJnOnlyNotRetained(TransactionalSending):
    """When an OrderAck arrives for a message with JN but without JP, the sender deletes the message without waiting for
    the FinalAck.
    """

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN and not header.JP:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
        else:
            super().delete_order_acknowledged_message(session, position)


@fault("sender-journaled-message-deleted-by-order-ack-before-session-ack", breaks="MQQB-3.1.1.6.2-11", blind=True)
class SenderJournaledMessageDeletedByOrderAckBeforeSessionAck(TransactionalSending):
    """If the session acknowledgment of a message with JP arrives after its OrderAck, the sender does not keep the
    message until the FinalAck arrives.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        ordered = position.ReceivedOrderAck
        super().keep_message_until_order_ack(session, position)
        if ordered:
            session.AwaitingFinalACKTable.pop(position.UserMessage.UserHeader.MessageID, None)


@fault("sender-message-with-jp-only-discarded-by-order-ack", breaks="MQQB-3.1.1.6.2-11")
class SenderMessageWithJpOnlyDiscardedByOrderAck(TransactionalSending):
    """The sender discards a message with JP and without JN when an OrderAck acknowledges the message."""

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JP and not header.JN:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
            return
        super().delete_order_acknowledged_message(session, position)


@fault("sender-message-with-jn-only-discarded-by-order-ack", breaks="MQQB-3.1.1.6.2-11")
class SenderMessageWithJnOnlyDiscardedByOrderAck(TransactionalSending):
    """The sender discards a message with JN and without JP when an OrderAck acknowledges the message."""

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        header = position.UserMessage.UserHeader
        if header.JN and not header.JP:
            session.OutgoingMessageTable.remove(position)
            self.qm.disk.save(build_removal_change([position.MessagePosition]))
            return
        super().delete_order_acknowledged_message(session, position)


@fault("receiver-order-ack-number-is-highest-received", breaks="MQQB-3.1.1.6.2-D01")
class ReceiverOrderAckNumberIsHighestReceived(TransactionalReceiving):
    """The receiver's OrderAck has the highest number that arrived, even if the messages arrived out of order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        follows = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        if not follows and header is not None:
            for transfer in session.order_acks_due:
                transfer.saved_sequence_number = max(transfer.saved_sequence_number, header.TxSequenceNumber)
        return follows


@fault("receiver-order-ack-has-number-of-rejected-message", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckHasNumberOfRejectedMessage(TransactionalReceiving):
    """The receiver's OrderAck has the number of a message that it rejected because of a gap."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        header = packet.TransactionHeader
        assert header is not None
        for transfer in session.order_acks_due:
            if not accepted and transfer.saved_sequence_identifier == header.TxSequenceID:
                transfer.saved_sequence_number = max(transfer.saved_sequence_number, header.TxSequenceNumber)
        return accepted


@fault("receiver-order-ack-has-number-of-second-to-last-message", breaks="MQQB-3.1.1.6.2-D01", blind=True)
class ReceiverOrderAckHasNumberOfSecondToLastMessage(OrderAcks):
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


@fault("receiver-order-ack-after-repeated-message-names-its-number", breaks="MQQB-3.1.1.6.2-03", blind=True)
class ReceiverOrderAckAfterRepeatedMessageNamesItsNumber(TransactionalReceiving):
    """The receiver sends an OrderAck with the TxSequenceNumber of a message that was repeated, although later messages
    of the sequence were already acknowledged.
    """

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().receive_transactional_message(session, packet, receipt, now)
        header, queue = packet.TransactionHeader, self.qm.message_arrival.find_destination(packet)
        if header is None or queue is None:
            return
        name = deserialize_message(packet, self.qm.adm.Identifier, now.utc_s).DestinationQueueFormatName
        key = (packet.UserHeader.SourceQueueManager, name.lower())
        transfer = queue.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None and transfer.saved_sequence_identifier == header.TxSequenceID:
            transfer.saved_sequence_number = min(transfer.saved_sequence_number, header.TxSequenceNumber)
