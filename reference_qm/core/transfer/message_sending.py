from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.events import MessageExpired, MessageSent
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.store.disk import Change
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

PIGGYBACK_TIMER_FRACTION = 0.75
"""A UserMessage also contains the session acknowledgment if at least this fraction of the Session Ack Send Timer's
duration has passed.

Spec: MS-MQQB 3.1.7.11.
"""


class MessageSending(QueueManagerPart):
    """Sends messages. Spec: MS-MQQB 3.1.7.1, 3.1.7.11, 3.1.7.12, MS-MQDMPR 3.1.7.1.28, 3.1.7.3.9."""

    __slots__ = ()

    def accept_outgoing_message(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> Change:
        """Put a message into its outgoing queue, and return the store entries that must be on disk before the message
        is sent.

        Spec: MS-MQQB 3.1.7.12. If the change is empty, the message may be sent at once or has already been sent.
        """
        if position.MessageReference.TransactionIdentifier is not None:
            position.MessageReference = self.qm.transactional_sending.number_message_in_sequence(
                queue.session, position.MessageReference
            )
        change = self.qm.durable_records.build_send_record(position)
        position.is_disk_write_pending = bool(change)
        self.on_message_position_available(queue, position, now)
        return change

    def remove_unsaved_message(self, queue: OutgoingQueue, position: MessagePosition) -> None:
        """Remove a message from its outgoing queue, because its record could not be written."""
        for outgoing in queue.session.OutgoingMessageTable:
            if outgoing.MessagePosition is position:
                self.remove_unsent_message(queue.session, outgoing)

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        """Add a message to the session of its outgoing queue. Spec: MS-MQQB 3.1.7.12."""
        packet = self.construct_user_message(position)
        number = position.MessageReference.TransactionSequenceNumber
        outgoing = OutgoingMessagePosition(position, packet, TxSequenceNumber=number)
        self.add_message_to_session_table(queue.session, outgoing, now)

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        """Add a message to the table of its session, establish the session if necessary, and send the message.
        Spec: MS-MQQB 3.1.7.12.

        This method differs from the document in three points. First, the document connects only while ConnectionHistory
        is empty. A session that was closed after it was established, for example because it was idle, must also be
        established again; otherwise its messages would never be sent. Second, the document connects before it adds the
        message to the table. If the attempt failed at once, the table would be empty, and the attempt would not be
        repeated.

        Third, the document adds no message to the table while the queue is OnHold or Locked (in this implementation, no
        outgoing queue is ever Locked). However, after a resume (3.1.7.14), only the messages in the table are sent.
        Therefore this method adds the message to the table, but does not send it.
        """
        session.OutgoingMessageTable.add(position)
        self.qm.message_lifetimes.record_deadline_of_message_to_send(session, position)
        if get_outgoing_queue(session).State is OutgoingQueueState.ON_HOLD:
            return
        self.qm.dispatch_collection.add(session, position)
        if session.SessionState is SessionState.CLOSED:
            self.qm.session_establishing.establish(session, now)
        self.dispatch_messages(session, now)

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        """Build the packet of a message. Spec: MS-MQQB 3.1.7.11, 3.1.7.1.1.

        The document adds the SessionHeader when the packet is built. The acknowledgment flags would then be cleared
        while the packet still waits for the window, and 3.1.7.1.3 would overwrite the flags. Here the SessionHeader is
        added when the message is sent.
        """
        return serialize_message(position.MessageReference)

    def dispatch_messages(self, session: Session, now: Now) -> None:
        """Send the messages that may be sent, in order of priority. Spec: MS-MQDMPR 3.1.7.3.9, MS-MQQB 3.1.7.16.

        In the document, each acknowledgment causes every unacknowledged message to be sent again (3.1.5.5.1). Here
        a message that awaits its acknowledgment on this session is not sent twice. A message that is not on disk
        yet is not sent. To keep the order, the messages after it are not sent either.
        """
        while self.may_send(session):
            position = session.OutgoingMessageTable.get_next_unsent()
            if position is None or position.MessagePosition.is_disk_write_pending:
                return
            go_on = self.send_user_message(session, position, now)
            self.qm.dispatch_collection.remove(session, position)
            if not go_on:
                return

    def may_send(self, session: Session) -> bool:
        """Return whether a session may send a message: the session is open, its queue is connected, and its window
        has room.

        Spec: MS-MQQB 3.1.7.1 steps 1 and 2.
        """
        queue = session.OutgoingQueueReference
        return (
            session.SessionState is SessionState.OPEN
            and queue is not None
            and queue.State is OutgoingQueueState.CONNECTED
            and self.is_window_open(session)
        )

    def is_window_open(self, session: Session) -> bool:
        """Return whether fewer than WindowSize messages are unacknowledged. Spec: MS-MQQB 3.1.7.1 step 2."""
        return session.UnAckedMessageCount < session.WindowSize

    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        """Send a message, or delete the message if it has expired. Return whether the next message may be sent.

        Spec: MS-MQQB 3.1.7.1.
        """
        self.qm.session_address_resolving.set_queue_manager_address(session, position)
        if self.qm.message_lifetimes.has_message_expired(position.UserMessage, now):
            self.delete_expired_message(session, position, now)
            return True
        if not self.sign_and_encrypt_message(session, position, now):
            return True
        packet = self.update_user_message(session, position, now)
        self.transmit(session, position, packet)
        self.qm.post_event(MessageSent(session, position.MessagePosition.MessageReference))
        return True

    def sign_and_encrypt_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        """Sign and encrypt a message whose source is this queue manager. If this fails, delete the message and
        return False.

        Spec: MS-MQQB 3.1.7.1.4, 3.1.7.1.5. The packet is built again from the attributes of the message, so that a
        body that was encrypted for an earlier session is not reused.
        """
        sent = position.UserMessage
        if sent.SecurityHeader is None or not self.is_from_this_queue_manager(sent):
            return True
        packet = self.construct_user_message(position.MessagePosition)
        message = position.MessagePosition.MessageReference
        secured = self.qm.message_securing.secure_user_message(session, message, packet, now)
        if secured is None:
            self.handle_encryption_error(session, position, now)
            return False
        position.UserMessage = replace(secured, TransactionHeader=sent.TransactionHeader)
        return True

    def delete_expired_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        """Delete an expired message. If the message requests it, send a negative acknowledgment and keep a copy in a
        dead-letter queue. Spec: MS-MQQB 3.1.7.1.2.
        """
        self.remove_unsent_message(session, position)
        self.qm.post_event(MessageExpired(position.MessagePosition))

    def delete_unsent_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Delete a message that must not be sent, and journal the message if it requests this. Spec: MS-MQQB
        3.1.7.1.5.1.
        """
        self.remove_unsent_message(session, position)
        self.qm.message_journaling.journal_failed_message(position.MessagePosition)

    def remove_unsent_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Remove a message that was not sent from its outgoing queue."""
        session.OutgoingMessageTable.remove(position)
        self.qm.transactional_sending.remove_message_from_sequence(session, position)

    def is_from_this_queue_manager(self, packet: UserMessagePacket) -> bool:
        """Return whether this queue manager is the source of a message. The source of a routed message is another
        queue manager.
        """
        return packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        """Number a message in the session's sequence, and return the packet to be sent. Spec: MS-MQQB 3.1.7.1.3,
        3.1.7.11.

        The packet of an OrderAck or FinalAck has no SessionHeader, because the SessionHeader would set a bit of
        BaseHeader.Flags that 2.2.4 does not allow.
        """
        if position.UserMessage.TransactionHeader is not None:
            position.UserMessage = self.qm.transactional_sending.update_transaction_header(session, position, now)
        session.MessageSentCount = session.MessageSentCount + 1 & 0xFFFF
        position.SequenceNumber = session.MessageSentCount
        if position.recoverable:
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount + 1 & 0xFFFF
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount
        session.UnAckedMessageCount += 1
        packet = position.UserMessage
        if self.is_acknowledgment_due(session, now) and not is_for_order_queue(packet):
            packet = replace(
                packet,
                BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags | BaseHeader.flags(SH=1)),
                SessionHeader=self.qm.session_acks.build_session_header(session),
            )
            self.qm.session_acks.reset_unacknowledged_counts(session, now)
        session.OutgoingMessageTable.note_position_sent(position)
        if not self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_WAIT, session.number)):
            self.qm.session_acks.start_session_ack_wait_timer(session, now)
        session.SessionActive = True
        return packet

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        """Return whether the next message should include the acknowledgment. Spec: MS-MQQB 3.1.7.11."""
        if not session.UnackedReceivedMsgCount:
            return False
        elapsed = self.qm.timers.compute_elapsed_share(
            TimerKey(TimerName.SESSION_ACK_SEND, session.number), now.monotonic_ms
        )
        return elapsed > PIGGYBACK_TIMER_FRACTION

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        """Send the packet of a message. Spec: MS-MQQB 3.1.7.1.6. A failure is reported later as the loss of the
        connection.
        """
        self.qm.session_connecting.send(session, packet.build())
        position.Transmitted = True

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        """Delete a message that cannot be encrypted, and journal the message if it requests this. Spec: MS-MQQB
        3.1.7.1.5.1.
        """
        self.delete_unsent_message(session, position)
        self.qm.session_connecting.add_connection_history(session, ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE, now)
