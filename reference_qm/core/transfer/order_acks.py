from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from uuid import UUID

from reference_qm.codec import (
    FinalAckBody,
    FormatError,
    MessageClass,
    MessageIdentifier,
    OrderAckBody,
    PrivateName,
    SequenceInfo,
    UserMessagePacket,
)
from reference_qm.core.names.destination_resolving import get_destination_guid
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER, is_for_order_queue
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import (
    NO_SEQUENCE_INFO,
    IncomingTransactionalTransferInfo,
    Message,
    MessagePosition,
    OutgoingQueue,
    OutgoingTransferInfo,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

ORDER_ACK_LABEL = "QM Ordering Ack"
ORDER_ACK_BODY_SIZE = 0x24
FIRST_FINAL_ACK_CLASS = 0x4000
_GET_SEQUENCE_NUMBER = attrgetter("SeqNo")


def is_order_ack(packet: UserMessagePacket) -> bool:
    """Return whether a packet is an OrderAck Packet. Spec: MS-MQQB 3.1.5.1.1."""
    return (
        packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK
        and len(packet.MessagePropertiesHeader.MessageBody) == ORDER_ACK_BODY_SIZE
        and _has_order_ack_headers(packet)
    )


def is_final_ack(packet: UserMessagePacket) -> bool:
    """Return whether a packet is a FinalAck Packet. Spec: MS-MQQB 3.1.5.1.1."""
    return packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_ACK_CLASS and _has_order_ack_headers(packet)


def _has_order_ack_headers(packet: UserMessagePacket) -> bool:
    return (
        packet.BaseHeader.Flags == 0
        and packet.MessagePropertiesHeader.Label == ORDER_ACK_LABEL
        and is_for_order_queue(packet)
    )


class OrderAcks(QueueManagerPart):
    """Sends and receives order acknowledgments. Also sends final acknowledgments, because they go to the same queue.

    Spec: MS-MQQB 2.2.4, 3.1.1.6.2, 3.1.5.1.1, 3.1.5.6, 3.1.6.9, 3.1.7.17.
    """

    __slots__ = ()

    # -- the sender of transactional messages -------------------------------------------------------------------------

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        """Handle an OrderAck that was received on any session. Spec: MS-MQQB 3.1.5.6.

        An OrderAck identifies its sequence by the TxSequenceID of the messages (2.2.4.1). 3.1.7.17 specifies the
        receiver's own OutgoingTxSequenceID, which the sender could not interpret. An OrderAck is ignored if its
        sequence is finished or its number was never sent.
        """
        try:
            body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError as error:
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            return
        for queue in self.qm.adm.OutgoingQueues.values():
            sender = queue.session
            if sender.OutgoingTxSequenceID == body.TxSequenceID and sender.TxOutgoingSequence is not None:
                if body.TxSequenceNumber < sender.OutgoingTxSequenceNumber:
                    self.note_last_message_in_order(sender, body, now)
                    self.delete_order_acknowledged_messages(sender, body)
                    self.update_outgoing_transfer_info(sender)
                return

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        """Record the last message that arrived in order according to an OrderAck, and restart the timer that waits for
        the OrderAck of later messages.

        Spec: MS-MQQB 3.1.5.6, 3.1.1.3.1.1. Only numbers of the same sequence are compared, because LastAck may
        belong to the previous sequence.
        """
        sequence = get_outgoing_sequence(session)
        sequence.TimeOfLastAck = now.utc_s
        sequence.LastAckCount += 1
        identifier = int(body.TxSequenceID)
        progress = sequence.LastAck.SeqID != identifier or body.TxSequenceNumber > sequence.LastAck.SeqNo
        if progress:
            sequence.LastAck = SequenceInfo(identifier, body.TxSequenceNumber, body.TxPreviousSequenceNumber)
        del sequence.UnackedSequence[
            : bisect_right(sequence.UnackedSequence, sequence.LastAck.SeqNo, key=_GET_SEQUENCE_NUMBER)
        ]
        if progress or not sequence.UnackedSequence:
            self.qm.transactional_sending.reset_resend_interval(session)
            if session.SessionState is SessionState.OPEN and sequence.UnackedSequence:
                self.qm.transactional_sending.start_ack_wait_timer(session, now)

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        """Delete the messages that arrived in order. If no message is left, begin a new sequence. Spec: MS-MQQB
        3.1.5.6.

        No section of the document sets ReceivedOrderAck, so this method sets it. A message is deleted when both its
        OrderAck and its session acknowledgment have arrived.
        """
        for position in session.OutgoingMessageTable:
            if 0 < position.TxSequenceNumber <= body.TxSequenceNumber:
                position.ReceivedOrderAck = True
                if position.ReceivedSessionAck:
                    self.qm.transactional_sending.delete_order_acknowledged_message(session, position)
        self.qm.transactional_sending.begin_sequence(session)

    def update_outgoing_transfer_info(self, session: Session) -> None:
        """Set the OutgoingTransferInfo of the queue of a session. Spec: MS-MQQB 3.1.5.6, 3.1.5.8.8, MS-MQDMPR
        3.1.1.4.
        """
        sequence, queue, number = (
            session.TxOutgoingSequence,
            session.OutgoingQueueReference,
            session.OutgoingTxSequenceNumber,
        )
        if sequence is None or queue is None:
            return  # no connection since the start, so no acknowledgment is due
        unacked = sequence.UnackedSequence
        queue.OutgoingTransferInfoReference = OutgoingTransferInfo(
            EodFirstNonAck=unacked[0] if unacked else NO_SEQUENCE_INFO,
            EodLastAck=sequence.LastAck,
            EodLastAckCount=sequence.LastAckCount,
            EodLastAckTime=sequence.TimeOfLastAck,
            EodLastNonAck=unacked[-1] if unacked else NO_SEQUENCE_INFO,
            EodNextSeq=SequenceInfo(int(session.OutgoingTxSequenceID), number, number - 1),
            EodNoAckCount=len(unacked),
            EodNoReadCount=len(session.AwaitingFinalACKTable),
            EodResendCount=sequence.ResendIntervalIndex,
            EodResendInterval=sequence.ResendInterval,
            EodResendTime=sequence.ResendTime,
        )

    # -- the receiver of transactional messages -----------------------------------------------------------------------

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        """Start the Order Ack Send Timer, or restart it within the limit of MaximumOrderAckDelay. Spec: MS-MQQB
        3.1.5.8.6.

        If the clock was set back, LastOrderAckSendTime may be in the future. In this case, the current time is used in
        its place (E221). If the SessionHeader of the message closed the session, the timer does not start, and the
        sender sends the message again.
        """
        if session.SessionState is not SessionState.OPEN:
            return
        running = self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number))
        session.LastOrderAckSendTime = min(session.LastOrderAckSendTime, now.utc_s)
        elapsed_s = (now.utc_s - session.LastOrderAckSendTime) * self.qm.settings.scale
        if not running or elapsed_s < session.MaximumOrderAckDelay:
            self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        """Send an OrderAck for each sequence whose acknowledgment is due. Spec: MS-MQQB 3.1.6.9.

        A sequence without an accepted message is not acknowledged, because 0 is not a valid TxSequenceNumber
        (2.2.4.1).
        """
        if session.SessionState is not SessionState.OPEN:
            return
        due, session.order_acks_due = session.order_acks_due, {}
        for transfer in due:
            if transfer.saved_sequence_number:
                name = self.build_order_queue_name(session, transfer.SenderIdentifier)
                body = self.build(transfer)
                self.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)
        session.LastOrderAckSendTime = now.utc_s

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        """Build the body of an OrderAck. Spec: MS-MQQB 2.2.4.1 (the method ``receive`` explains which TxSequenceID the
        body contains).
        """
        return OrderAckBody(
            transfer.saved_sequence_identifier, transfer.saved_sequence_number, transfer.saved_sequence_number - 1
        )

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        """Return the format name of the order queue of a sender. Spec: MS-MQQB 3.1.7.17.

        If the result is a private format name, it contains the GUID of the sender. RemoteQMGuid is not used,
        because for a routed message it identifies the router.
        """
        if session.DirectFormatSession:
            return f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
        return str(PrivateName(source, ORDER_QUEUE_NUMBER))

    def send_transactional_ack(
        self,
        name: str,
        message_class: MessageClass,
        body: OrderAckBody | FinalAckBody,
        now: Now,
    ) -> None:
        """Send an OrderAck or FinalAck to an order queue. Spec: MS-MQQB 3.1.7.17, 2.2.4, 2.2.5.

        The acknowledgment is sent on the session of the acknowledged messages, as in figure 14 and 2.1.1. If that
        session is closed, the acknowledgment is sent on a separate session. An OrderAck is express (DM is 0,
        2.2.4), and a FinalAck is recoverable (DM is 1, 2.2.5).
        """
        order_ack = message_class is MessageClass.MQMSG_CLASS_ORDER_ACK
        message = Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, self.qm.message_numbering.assign_message_ordinal()),
            DestinationQueueFormatName=name,
            DestinationQueueManagerIdentifier=get_destination_guid(name),
            Class=message_class,
            Priority=0,
            DeliveryGuarantee=DeliveryGuarantee.EXPRESS if order_ack else DeliveryGuarantee.RECOVERABLE,
            Label=ORDER_ACK_LABEL,
            Body=body.build(),
            SentTime=now.utc_s,
        )
        queue = self._find_queue_of_open_session(name) or self.qm.destination_resolving.open_outgoing_queue(name, now)
        position = MessagePosition(message, queue)
        self.qm.disk.save(self.qm.durable_records.build_send_record(position))
        self.qm.message_sending.on_message_position_available(queue, position, now)

    def _find_queue_of_open_session(self, name: str) -> OutgoingQueue | None:
        """If a session to the host of an order queue is open, return its outgoing queue; otherwise return None.

        Create the queue if this queue manager is the acceptor of the session (3.1.7.1).
        """
        for session in self.qm.sessions.values():
            if session.SessionState is not SessionState.OPEN:
                continue
            if self.build_order_queue_name(session, session.RemoteQMGuid) != name:
                continue
            if session.OutgoingQueueReference is None:
                queue = OutgoingQueue(Pathname=name, DestinationFormatName=name, State=OutgoingQueueState.CONNECTED)
                queue.session = session
                session.OutgoingQueueReference = queue
            if session.OutgoingQueueReference.State is OutgoingQueueState.CONNECTED:
                return session.OutgoingQueueReference
        return None
