from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from operator import attrgetter

from reference_qm.codec import SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.events import SessionMaySend
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_awaiting_final_ack_change, build_removal_change
from reference_qm.model.adm import Message, OutgoingMessagePosition, OutgoingTransferSequence, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

_GET_SEQUENCE_NUMBER = attrgetter("SeqNo")


class TransactionalSending(QueueManagerPart):
    """Numbers transactional messages, repeats those that are not acknowledged, and manages their sequences.

    Spec: MS-MQQB 3.1.1.5, 3.1.6.5, 3.1.7.1.3.
    """

    __slots__ = ()

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        """Number a transactional message in the sequence of its outgoing queue.

        Spec: MS-MQQB 3.1.7.1.3, 3.1.1.5.

        The document numbers a message when the message is first sent. Here a message is numbered when it is
        accepted, in the same order. The reason is that the number has to be on disk before the message is sent: a
        message that was numbered again after a crash would be accepted twice. For the same reason, a message keeps
        its number on every session, although 3.1.3.2 clears Transmitted.
        """
        number = session.OutgoingTxSequenceNumber
        session.OutgoingTxSequenceNumber += 1
        return replace(
            message,
            TransactionalMessageSequenceIdentifier=session.OutgoingTxSequenceID,
            TransactionSequenceNumber=number,
            TransactionPreviousSequenceNumber=number - 1,
        )

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        """Set PreviousTxSequenceNumber of a transactional message. Spec: MS-MQQB 3.1.7.1.3, 3.1.1.5.

        The previous message is the last earlier message that was sent and is not acknowledged, because all other
        earlier messages were acknowledged or deleted. If there is no such message, the previous message is the
        message that was acknowledged last on this session. If there is no such message either,
        PreviousTxSequenceNumber is 0, as in MS-MQMQ 2.2.20.5 for a message without a predecessor.
        """
        packet = position.UserMessage
        if packet.TransactionHeader is None or packet.UserHeader.SourceQueueManager != self.qm.adm.Identifier:
            return packet
        sequence = get_outgoing_sequence(session)
        unacked, identifier = sequence.UnackedSequence, int(session.OutgoingTxSequenceID)
        place = bisect_left(unacked, position.TxSequenceNumber, key=_GET_SEQUENCE_NUMBER)
        if place:
            previous = unacked[place - 1].SeqNo
        else:
            previous = sequence.LastAck.SeqNo if sequence.LastAck.SeqID == identifier else 0
        if place == len(unacked) and not position.ReceivedOrderAck:
            unacked.append(SequenceInfo(identifier, position.TxSequenceNumber, previous))
        header = replace(packet.TransactionHeader, PreviousTxSequenceNumber=previous)
        if not self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number)):
            self.start_ack_wait_timer(session, now)
        return replace(packet, TransactionHeader=header)

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        """Start the Transactional Ack Wait Timer. Spec: MS-MQQB 3.1.2.6."""
        sequence = get_outgoing_sequence(session)
        sequence.ResendTime = now.utc_s + sequence.ResendInterval
        duration_ms = 1000 * sequence.ResendInterval
        self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, duration_ms, now)

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        """Repeat the sending of every transactional message for which no OrderAck has arrived. Spec: MS-MQQB 3.1.6.5,
        3.1.2.6.

        If such a message also has no session acknowledgment, it is counted again when it is sent again.
        """
        self.lengthen_resend_interval(session)
        if get_outgoing_sequence(session).UnackedSequence:
            self.start_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber and not position.ReceivedOrderAck:
                stop_counting_as_unacknowledged(session, position)
                session.OutgoingMessageTable.mark_for_resending(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.post_event(SessionMaySend(session))

    def lengthen_resend_interval(self, session: Session) -> None:
        """Increase the resend interval after a timeout. Spec: MS-MQQB 3.1.1.3 (ResendTimerTable), note <24>.

        3.1.5.6 increases the interval after OrderAcks and not after timeouts. As a result, a lost message could be sent
        again only hours later, just because other messages had arrived.
        """
        sequence = get_outgoing_sequence(session)
        sequence.ResendIntervalIndex = min(sequence.ResendIntervalIndex + 1, len(self.qm.adm.ResendTimerTable) - 1)
        sequence.ResendInterval = self.qm.adm.ResendTimerTable[sequence.ResendIntervalIndex]

    def reset_resend_interval(self, session: Session) -> None:
        """Set the resend interval back to the shortest interval. Spec: MS-MQQB 3.1.5.6, note <24>."""
        sequence = get_outgoing_sequence(session)
        sequence.ResendIntervalIndex = 0
        sequence.ResendInterval = self.qm.adm.ResendTimerTable[0]

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Keep a message after its session acknowledgment until its OrderAck arrives. If the OrderAck has already
        arrived, complete the message.

        Spec: MS-MQQB 3.1.5.5.3, 3.1.5.5.5.
        """
        session.OutgoingMessageTable.keep_message_until_order_ack(position)
        if position.ReceivedOrderAck:
            self.delete_order_acknowledged_message(session, position)
            self.begin_sequence(session)

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Delete a message that arrived in order, or keep the message until its FinalAck arrives. Spec: MS-MQQB
        3.1.5.6.
        """
        session.OutgoingMessageTable.remove(position)
        header = position.UserMessage.UserHeader
        if header.JN or header.JP:
            session.AwaitingFinalACKTable[header.MessageID] = position
            self.qm.disk.save(build_awaiting_final_ack_change(position.MessagePosition))
        else:
            self.qm.disk.save(build_removal_change([position.MessagePosition]))

    def remove_message_from_sequence(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Remove a message from its transactional sequence. The sender will not repeat the message, and the receiver
        will not acknowledge it.

        Spec: MS-MQQB 3.1.7.1.3.

        If the message stayed in its sequence, the sequence would wait forever for an acknowledgment of an expired or
        refused message. A session that was never established has not sent any message of its sequence.
        """
        if not position.TxSequenceNumber:
            return
        unacked = _get_unacked_sequence(session)
        place = bisect_left(unacked, position.TxSequenceNumber, key=_GET_SEQUENCE_NUMBER)
        if place < len(unacked) and unacked[place].SeqNo == position.TxSequenceNumber:
            del unacked[place]
        self.begin_sequence(session)

    def begin_sequence(self, session: Session) -> None:
        """Begin a new sequence if no message of the current sequence is left. Spec: MS-MQQB 3.1.1.5, 3.1.5.6.

        A message that has an OrderAck but no session acknowledgment still counts, because it may be sent again.
        """
        unacked = _get_unacked_sequence(session)
        if not unacked:
            self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)
        if unacked or session.OutgoingTxSequenceNumber == 1:
            return
        if not any(position.TxSequenceNumber for position in session.OutgoingMessageTable):
            identifier = session.OutgoingTxSequenceID
            session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal + 1 & 0xFFFFFFFF, identifier.TimeStamp)
            session.OutgoingTxSequenceNumber = 1
            if session.OutgoingQueueReference is not None:
                self.qm.disk.save(self.qm.durable_records.build_sequence_entry(session.OutgoingQueueReference))


def stop_counting_as_unacknowledged(session: Session, position: OutgoingMessagePosition) -> None:
    """Subtract a message from the number of unacknowledged messages. Spec: MS-MQQB 3.1.1.3.1 (UnAckedMessageCount)."""
    if position.AwaitingAck:
        session.UnAckedMessageCount -= 1


def _get_unacked_sequence(session: Session) -> list[SequenceInfo]:
    """Return the messages that were sent and have no OrderAck. The list is empty for a session that was never
    established.
    """
    return [] if session.TxOutgoingSequence is None else session.TxOutgoingSequence.UnackedSequence


def get_outgoing_sequence(session: Session) -> OutgoingTransferSequence:
    """Return the OutgoingTransferSequence of a session that was initialized."""
    assert session.TxOutgoingSequence is not None
    return session.TxOutgoingSequence
