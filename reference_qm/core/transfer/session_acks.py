from __future__ import annotations

from reference_qm.codec import PT_SESSION_ACK, BaseHeader, FormatError, InternalHeader, SessionAckPacket, SessionHeader
from reference_qm.core.events import SessionMaySend
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

RECOVERABLE_ACK_FLAG_COUNT = 32
_HALF_OF_SEQUENCE_RANGE = 0x8000


class SessionAcks(QueueManagerPart):
    """Sends and receives session acknowledgments. Spec: MS-MQQB 3.1.5.5, 3.1.6.3, 3.1.6.4, MS-MQMQ 2.2.20.4."""

    __slots__ = ()

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        """Handle a SessionAck Packet. Spec: MS-MQQB 3.1.5.5."""
        self.process_session_header(session, packet.SessionHeader, now)

    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        """Handle the acknowledgment in a SessionHeader. Then send further messages, as far as the window of the session
        permits. Spec: MS-MQQB 3.1.5.5.
        """
        newly = header.AckSequenceNumber - session.last_ack_number & 0xFFFF
        if newly > session.MessageSentCount - session.last_ack_number & 0xFFFF:
            message = (
                f"the field acknowledges message {header.AckSequenceNumber}, which does not await an acknowledgment"
            )
            error = FormatError("SessionHeader.AckSequenceNumber", 0, "MS-MQMQ 2.2.20.4", message)
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            return
        session.last_ack_number = header.AckSequenceNumber
        self.mark_acknowledged_messages(session, header)
        self.delete_acknowledged_express_messages(session, header)
        self.delete_acknowledged_recoverable_messages(session, header)
        self.validate_message_counts(session, header, now)
        self.qm.post_event(SessionMaySend(session))

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        """Set ReceivedSessionAck of the messages whose receipt the acknowledgment confirms. Spec: MS-MQQB
        3.1.5.5.1.

        Only sent messages are compared, because an unsent message has the SequenceNumber 0, which can be less than
        the acknowledged number. Counts wrap at 65,536.
        """
        for position in session.OutgoingMessageTable.awaiting_ack:
            if not position.ReceivedSessionAck and _is_number_acknowledged(
                header.AckSequenceNumber, position.SequenceNumber
            ):
                position.ReceivedSessionAck = True
                session.UnAckedMessageCount -= 1
                if position.TxSequenceNumber:
                    self.qm.transactional_sending.keep_message_until_order_ack(session, position)

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        """Delete the express messages whose receipt the acknowledgment confirms. Spec: MS-MQQB 3.1.5.5.2."""
        for position in session.OutgoingMessageTable.awaiting_ack:
            if not position.recoverable and _is_number_acknowledged(header.AckSequenceNumber, position.SequenceNumber):
                self.delete_position(session, position)

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        """Delete the recoverable messages that are on the receiver's disk. Spec: MS-MQQB 3.1.5.5.3, MS-MQMQ
        2.2.20.4.

        This method deletes the message with the number RecoverableMsgAckSeqNumber, which both documents call
        acknowledged, and each message whose bit is set: bit k stands for the number RecoverableMsgAckSeqNumber + k.
        Unlike 3.1.5.5.3, it does not delete messages with lower numbers. The field contains the lowest number that was
        persisted since the last acknowledgment, so an earlier message may not be persisted yet. In this way no
        unacknowledged message is ever deleted. At worst, a message is sent again, and the receiver discards it as a
        duplicate. Transactional messages are kept until their OrderAck arrives.
        """
        for position in session.OutgoingMessageTable.awaiting_ack:
            if (
                position.recoverable
                and not position.TxSequenceNumber
                and _is_recoverable_flag_set(header, position.RecoverableSequenceNumber)
            ):
                self.delete_position(session, position)

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Delete a message that was acknowledged, and journal the message if it requests this. Spec: MS-MQQB
        3.1.5.5.2 to 3.1.5.5.4.

        A routed message is journaled only by its source, because JP requests journaling at the source (MS-MQMQ
        2.2.19.2).
        """
        session.OutgoingMessageTable.remove(position)
        self.qm.message_journaling.journal_delivered_message(position.MessagePosition)

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        """Close the session if the sender's and the receiver's message counts differ. Otherwise restart the timer that
        waits for acknowledgments.

        Spec: MS-MQQB 3.1.5.5.5.
        """
        sent = (header.UserMsgSequenceNumber, header.RecoverableMsgSeqNumber)
        received = (session.MessageReceivedCount, session.RecoverableMessageReceivedCount)
        if sent != received:
            counts = f"the counts of messages and of recoverable messages are {sent} at the sender, but {received} here"
            reason = f"{counts} (MS-MQQB 3.1.5.5.5)"
            self.qm.session_closing.close(session, reason, now)
        elif session.OutgoingMessageTable.awaiting_ack:
            self.start_session_ack_wait_timer(session, now)

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        """Start or restart the Session Ack Wait Timer. Spec: MS-MQQB 3.1.2.4, note <46>."""
        settings = self.qm.settings
        multiplier = (
            settings.ack_wait_multiplier_direct if session.is_destination_direct else settings.ack_wait_multiplier
        )
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_WAIT, multiplier * session.AckWaitTimeout, now)

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        """Close a session if it has unacknowledged messages and received no packet in time. Spec: MS-MQQB 3.1.6.3."""
        if not session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = False
        elif not session.ReceivedAck:
            self.qm.session_closing.close(session, "no acknowledgment arrived (MS-MQQB 3.1.6.3)", now)
        else:
            self.start_session_ack_wait_timer(session, now)
            session.ReceivedAck = False

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        """Acknowledge the messages that were received. Spec: MS-MQQB 3.1.6.4."""
        if session.UnackedReceivedMsgCount:
            self.send(session, now)

    def send(self, session: Session, now: Now) -> None:
        """Send a SessionAck Packet. Spec: MS-MQQB 3.1.6.4, 3.1.5.8.7."""
        packet = self.build(session)
        self.qm.session_connecting.send(session, packet.build())
        self.reset_unacknowledged_counts(session, now)

    def build(self, session: Session) -> SessionAckPacket:
        """Build a SessionAck Packet. Spec: MS-MQQB 2.2.6, 3.1.6.4."""
        return SessionAckPacket(
            BaseHeader(Flags=BaseHeader.flags(IN=1, SH=1, PR=3)),
            InternalHeader(Flags=InternalHeader.flags(PT=PT_SESSION_ACK)),
            self.build_session_header(session),
        )

    def build_session_header(self, session: Session) -> SessionHeader:
        """Build the SessionHeader that acknowledges all messages received so far. Spec: MS-MQQB 3.1.6.4, 3.1.7.1.3,
        MS-MQMQ 2.2.20.4.

        RecoverableMsgAckSeqNumber is the number of the message with the lowest set flag. This flag becomes bit 0 on
        the wire.
        """
        flags = session.RecoverableMsgAckFlags
        lowest = (flags & -flags).bit_length() - 1 if flags else 0
        return SessionHeader(
            AckSequenceNumber=session.MessageReceivedCount,
            RecoverableMsgAckSeqNumber=session.LastAckedRecoverableMsgSeqNumber + 1 + lowest & 0xFFFF if flags else 0,
            RecoverableMsgAckFlags=flags >> lowest,
            UserMsgSequenceNumber=session.MessageSentCount,
            RecoverableMsgSeqNumber=session.RecoverableMessageSentCount,
            WindowSize=session.WindowSize,
        )

    def reset_unacknowledged_counts(self, session: Session, now: Now) -> None:
        """Reset the counts and flags of unacknowledged messages, because an acknowledgment was sent. Spec: MS-MQQB
        3.1.6.4, 3.1.5.8.7, 3.1.7.1.3, 3.1.7.11.

        Messages that the disk has not confirmed remain in the count; otherwise they would never be acknowledged.
        The Session Ack Send Timer continues only if there are such messages (3.1.2.5; 3.1.6.4 says "restarted").
        """
        unsaved = len(session.unacknowledged_receipts)
        session.RecoverableMsgAckFlags = 0
        session.UnackedReceivedMsgCount = session.already_acknowledged_count = unsaved & 0xFFFF
        session.LastAckedRecoverableMsgSeqNumber = session.RecoverableMessageReceivedCount - unsaved & 0xFFFF
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        if unsaved:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)

    def flag_recoverable_messages(self, session: Session, now: Now) -> None:
        """Set the acknowledgment flags of the received recoverable messages that are on disk, in the order of their
        sequence numbers. Spec: MS-MQQB 3.1.5.8.7.
        """
        while (
            session.SessionState is SessionState.OPEN
            and session.unacknowledged_receipts
            and session.unacknowledged_receipts[0].is_on_disk
        ):
            if session.unacknowledged_receipts[0].must_be_acknowledged:
                self.set_acknowledgment_flag(session, now)
            session.unacknowledged_receipts.popleft()

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        """Set the acknowledgment flag of the first message that waits for it. If no flag is left for this message,
        first send an acknowledgment.

        Spec: MS-MQQB 3.1.5.8.7. Every acknowledgment, including this one, clears the flags; otherwise the flags
        would later stand for other messages.
        """
        number = session.RecoverableMessageReceivedCount - len(session.unacknowledged_receipts) + 1
        if (number - session.LastAckedRecoverableMsgSeqNumber - 1 & 0xFFFF) >= RECOVERABLE_ACK_FLAG_COUNT:
            self.send(session, now)
        if not session.RecoverableMsgAckFlags:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)
        session.RecoverableMsgAckFlags |= 1 << (
            number - session.LastAckedRecoverableMsgSeqNumber - 1 & RECOVERABLE_ACK_FLAG_COUNT - 1
        )

    def acknowledge_full_window(self, session: Session, now: Now) -> None:
        """Acknowledge at once if the sender's window is full. Spec: MS-MQQB 2.2.2.1, 3.1.1.6.1.

        Messages that were already acknowledged as received but still wait for the disk are not counted again.
        """
        received = session.UnackedReceivedMsgCount - session.already_acknowledged_count & 0xFFFF
        if session.SessionState is SessionState.OPEN and received >= max(1, session.ReceivedWindowSize):
            self.send(session, now)


def _is_number_acknowledged(acknowledged: int, number: int) -> bool:
    """Return whether ``number`` is equal to ``acknowledged`` or precedes it. Both are 16-bit sequence numbers,
    which wrap to 0.
    """
    return (acknowledged - number & 0xFFFF) < _HALF_OF_SEQUENCE_RANGE


def _is_recoverable_flag_set(header: SessionHeader, number: int) -> bool:
    first = header.RecoverableMsgAckSeqNumber
    if first and number == first:
        return True
    bit = number - first & 0xFFFF
    return bit < RECOVERABLE_ACK_FLAG_COUNT and bool(header.RecoverableMsgAckFlags >> bit & 1)
