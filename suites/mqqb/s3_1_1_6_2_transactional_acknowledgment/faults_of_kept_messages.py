"""Faults that break MQQB-3.1.1.6.2-10: the sender loses a transactional message before its OrderAck in one state."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, OrderAckBody, UserMessagePacket
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now


@fault(
    "sender-session-acked-transactional-messages-deleted-at-reconnect",
    breaks=("MQQB-3.1.1.6.2-10", "MQQB-3.1.5.5.5-03"),
    blind=True,
)
class SenderSessionAckedTransactionalMessagesDeletedAtReconnect(SessionInitialization):
    """When the sender connects again, it deletes the transactional messages that have only a session acknowledgment."""

    def initialize_messages(self, session: Session) -> None:
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber and position.ReceivedSessionAck:
                session.OutgoingMessageTable.remove(position)
        super().initialize_messages(session)


@fault("sender-order-ack-of-other-queue-deletes-messages", breaks="MQQB-3.1.1.6.2-10", blind=True)
class SenderOrderAckOfOtherQueueDeletesMessages(OrderAcks):
    """The sender deletes the messages of every outgoing queue up to TxSequenceNumber of an OrderAck with any
    TxSequenceID.
    """

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().receive(session, packet, now)
        try:
            body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError:
            return
        for queue in self.qm.adm.OutgoingQueues.values():
            self.delete_order_acknowledged_messages(queue.session, body)


@fault("sender-session-acked-transactional-messages-deleted-at-pause", breaks="MQQB-3.1.1.6.2-10", blind=True)
class SenderSessionAckedTransactionalMessagesDeletedAtPause(DispatchCollection):
    """When a queue is paused, the sender deletes those of its transactional messages that have only a session
    acknowledgment.
    """

    def remove_queue(self, queue: OutgoingQueue) -> None:
        super().remove_queue(queue)
        for position in queue.session.OutgoingMessageTable:
            if position.TxSequenceNumber and position.ReceivedSessionAck:
                queue.session.OutgoingMessageTable.remove(position)


@fault("sender-last-message-of-sequence-deleted-without-order-ack", breaks="MQQB-3.1.1.6.2-10", blind=True)
class SenderLastMessageOfSequenceDeletedWithoutOrderAck(TransactionalSending):
    """When a session acknowledgment for a transactional message arrives, the sender deletes the message if all earlier
    messages of the sequence have OrderAcks.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        sequence = session.TxOutgoingSequence
        if position.TxSequenceNumber > 1 and sequence is not None:
            position.ReceivedOrderAck |= sequence.LastAck.SeqNo == position.TxSequenceNumber - 1
        super().keep_message_until_order_ack(session, position)
