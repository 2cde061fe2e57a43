from __future__ import annotations

from reference_qm.codec import FinalAckBody, FormatError, MessageClass, UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_removal_change, is_removal_reported
from reference_qm.core.transfer.transactional_sending import stop_counting_as_unacknowledged
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


class FinalAcks(QueueManagerPart):
    """Sends and receives final acknowledgments. Spec: MS-MQQB 2.2.5, 3.1.5.7, 3.1.5.8.2, 3.1.7.2.2."""

    __slots__ = ()

    # -- the sender of transactional messages -------------------------------------------------------------------------

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        """Handle a FinalAck, which reports that a message was refused or left its queue. Spec: MS-MQQB 3.1.5.7.

        The message is deleted even if it does not request journaling; otherwise a refused message would be sent again
        and again. A FinalAck for an unknown message is ignored, because it belongs to a message that has already been
        completed.
        """
        properties = packet.MessagePropertiesHeader
        try:
            body = FinalAckBody.parse(properties.MessageBody)
        except FormatError as error:
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            return
        if body.SourceGUID != self.qm.adm.Identifier:
            return
        for queue in self.qm.adm.OutgoingQueues.values():
            sender = queue.session
            position = sender.AwaitingFinalACKTable.pop(body.MessageID, None)
            if position is None:
                position = sender.OutgoingMessageTable.find(body.SourceGUID, body.MessageID)
                if position is None or not position.TxSequenceNumber:
                    continue
                stop_counting_as_unacknowledged(sender, position)
                sender.OutgoingMessageTable.remove(position)
                self.qm.transactional_sending.remove_message_from_sequence(sender, position)
            self.journal_completed_message(position, properties.MessageClass)
            self.qm.order_acks.update_outgoing_transfer_info(sender)
            self.qm.message_sending.dispatch_messages(sender, now)
            return

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        """Put a message whose FinalAck arrived into the system journal or a dead-letter queue, if the message requests
        journaling. Spec: MS-MQQB 3.1.5.7.
        """
        received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        journal = (
            self.qm.message_journaling.journal_delivered_message
            if received
            else self.qm.message_journaling.journal_failed_message
        )
        journal(position.MessagePosition)

    # -- the receiver of transactional messages -----------------------------------------------------------------------

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        """Send the acknowledgments that are required when a message leaves its queue.

        Spec: MS-MQDMPR 3.1.7.2.1, MS-MQQB 3.1.7.2.
        """
        if is_removal_reported(position, reason):
            self.qm.admin_acks.acknowledge_receive(position.MessageReference, reason, now)
            self.send_final_ack_of_message(position, reason, now)
            self.qm.disk.save(build_removal_change([position]))

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        """Send the FinalAck for a transactional message that has left its queue. Spec: MS-MQQB 3.1.7.2.2.

        A FinalAck is sent only for a transactional message (2.2.5), although 3.1.7.2.2 names every message that
        requests journaling.
        """
        if position.order_queue is None:
            return
        message = position.MessageReference
        body = FinalAckBody(
            message.TransactionalMessageSequenceIdentifier,
            message.TransactionSequenceNumber,
            message.TransactionPreviousSequenceNumber,
            message.Identifier.QueueManagerGuid,
            message.Identifier.Ordinal,
        )
        self.qm.order_acks.send_transactional_ack(position.order_queue, reason, body, now)

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        """Send the negative FinalAck for a message that was refused. Spec: MS-MQQB 3.1.5.8.2, 3.1.7.17."""
        header, user = packet.TransactionHeader, packet.UserHeader
        assert header is not None
        body = FinalAckBody(
            header.TxSequenceID,
            header.TxSequenceNumber,
            header.PreviousTxSequenceNumber,
            user.SourceQueueManager,
            user.MessageID,
        )
        name = self.qm.order_acks.build_order_queue_name(session, user.SourceQueueManager)
        self.qm.order_acks.send_transactional_ack(name, message_class, body, now)

    def keep_final_acks(self, session: Session, now: Now) -> None:
        """Move the undelivered FinalAcks of a closed session to outgoing queues, because FinalAcks are recoverable.
        Only sessions that this queue manager accepted have such FinalAcks.

        Spec: MS-MQQB 2.2.5.
        """
        if not session.initiator:
            for position in session.OutgoingMessageTable:
                stop_counting_as_unacknowledged(session, position)
                session.OutgoingMessageTable.remove(position)
                if position.recoverable:
                    self.move_to_outgoing_queue(position, now)

    def move_to_outgoing_queue(self, position: OutgoingMessagePosition, now: Now) -> None:
        """Move a message of a closed session to the outgoing queue for its destination. Spec: MS-MQQB 3.1.7.17."""
        message = position.MessagePosition.MessageReference
        queue = self.qm.destination_resolving.open_outgoing_queue(message.DestinationQueueFormatName, now)
        session = queue.session
        again = MessagePosition(message, queue, key=position.MessagePosition.key)
        outgoing = OutgoingMessagePosition(again, position.UserMessage)
        session.OutgoingMessageTable.add(outgoing)
        self.qm.dispatch_collection.add(session, outgoing)
        if session.SessionState is SessionState.CLOSED:
            self.qm.sessions[session.number] = session
            if session in self.qm.closed_sessions:
                self.qm.closed_sessions.remove(session)
            self.qm.session_closing.await_reconnect(session, now)
        self.qm.message_sending.dispatch_messages(session, now)
