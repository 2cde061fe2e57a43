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
from reference_qm.core.names.destinations import destination_guid
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER, names_order_queue
from reference_qm.core.part import Part
from reference_qm.core.transfer.transactional_sending import outgoing_sequence
from reference_qm.model.adm import (
    NO_SEQUENCE,
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

LABEL = "QM Ordering Ack"
BODY_SIZE = 0x24
FIRST_FINAL_CLASS = 0x4000
_NUMBER = attrgetter("SeqNo")


def is_order_ack(packet: UserMessagePacket) -> bool:
    """Return whether it is an OrderAck Packet. Spec: MS-MQQB 3.1.5.1.1."""
    return (
        packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK
        and len(packet.MessagePropertiesHeader.MessageBody) == BODY_SIZE
        and _is_ordering(packet)
    )


def is_final_ack(packet: UserMessagePacket) -> bool:
    """Return whether it is a FinalAck Packet. Spec: MS-MQQB 3.1.5.1.1."""
    return packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_CLASS and _is_ordering(packet)


def _is_ordering(packet: UserMessagePacket) -> bool:
    return packet.BaseHeader.Flags == 0 and packet.MessagePropertiesHeader.Label == LABEL and names_order_queue(packet)


class OrderAcks(Part):
    """Order acknowledgments, both sides, and the sending of both kinds.

    Spec: MS-MQQB 2.2.4, 3.1.1.6.2, 3.1.5.1.1, 3.1.5.6, 3.1.6.9, 3.1.7.17.
    """

    __slots__ = ()

    # -- the sender of transactional messages -------------------------------------------------------------------------

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        """Take an OrderAck, on whatever session it comes. Spec: MS-MQQB 3.1.5.6.

        It names its sequence by the TxSequenceID of the messages (2.2.4.1), not by the receiver's own
        OutgoingTxSequenceID (3.1.7.17), which would say nothing. One for a sequence that is over, or for a number
        never sent, is ignored.
        """
        try:
            body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        except FormatError as error:
            self.qm.closing.refuse_malformed(session, error, now)
            return
        for queue in self.qm.adm.OutgoingQueues.values():
            sender = queue.session
            if sender.OutgoingTxSequenceID == body.TxSequenceID and sender.TxOutgoingSequence is not None:
                if body.TxSequenceNumber < sender.OutgoingTxSequenceNumber:
                    self.note(sender, body, now)
                    self.delete_order_acknowledged(sender, body)
                    self.note_transfer(sender)
                return

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        """Note how far the receiver got, and wait on for the rest. Spec: MS-MQQB 3.1.5.6, 3.1.1.3.1.1.

        Only numbers of the same sequence are compared: LastAck may still be of the one before.
        """
        sequence = outgoing_sequence(session)
        sequence.TimeOfLastAck = now.utc_s
        sequence.LastAckCount += 1
        identifier = int(body.TxSequenceID)
        progress = sequence.LastAck.SeqID != identifier or body.TxSequenceNumber > sequence.LastAck.SeqNo
        if progress:
            sequence.LastAck = SequenceInfo(identifier, body.TxSequenceNumber, body.TxPreviousSequenceNumber)
        del sequence.UnackedSequence[: bisect_right(sequence.UnackedSequence, sequence.LastAck.SeqNo, key=_NUMBER)]
        if progress or not sequence.UnackedSequence:
            self.qm.transactional_sending.reset_resend_interval(session)
            if session.SessionState is SessionState.OPEN and sequence.UnackedSequence:
                self.qm.transactional_sending.start_ack_wait_timer(session, now)

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        """Delete the messages that arrived; begin a new sequence when none is left. Spec: MS-MQQB 3.1.5.6.

        ReceivedOrderAck, which nothing sets as printed, is set here: whichever acknowledgment comes last deletes.
        """
        for position in session.OutgoingMessageTable:
            if 0 < position.TxSequenceNumber <= body.TxSequenceNumber:
                position.ReceivedOrderAck = True
                if position.ReceivedSessionAck:
                    self.qm.transactional_sending.delete_ordered(session, position)
        self.qm.transactional_sending.begin_sequence(session)

    def note_transfer(self, session: Session) -> None:
        """Set the OutgoingTransferInfo of a session's queue. Spec: MS-MQQB 3.1.5.6, 3.1.5.8.8, MS-MQDMPR 3.1.1.4."""
        sequence, queue, number = (
            session.TxOutgoingSequence,
            session.OutgoingQueueReference,
            session.OutgoingTxSequenceNumber,
        )
        if sequence is None or queue is None:
            return  # it was not connected since the start: there is nothing to acknowledge
        unacked = sequence.UnackedSequence
        queue.OutgoingTransferInfoReference = OutgoingTransferInfo(
            EodFirstNonAck=unacked[0] if unacked else NO_SEQUENCE,
            EodLastAck=sequence.LastAck,
            EodLastAckCount=sequence.LastAckCount,
            EodLastAckTime=sequence.TimeOfLastAck,
            EodLastNonAck=unacked[-1] if unacked else NO_SEQUENCE,
            EodNextSeq=SequenceInfo(int(session.OutgoingTxSequenceID), number, number - 1),
            EodNoAckCount=len(unacked),
            EodNoReadCount=len(session.AwaitingFinalACKTable),
            EodResendCount=sequence.ResendIntervalIndex,
            EodResendInterval=sequence.ResendInterval,
            EodResendTime=sequence.ResendTime,
        )

    # -- the receiver of transactional messages -----------------------------------------------------------------------

    def schedule(self, session: Session, now: Now) -> None:
        """Start the Order Ack Send Timer; put it off as long as MaximumOrderAckDelay admits. Spec: MS-MQQB 3.1.5.8.6.

        A LastOrderAckSendTime that is yet to come, because the clock was set back, counts as now (E221).
        A session that the message itself closed, by its SessionHeader, has no timers: the message comes again.
        """
        if session.SessionState is not SessionState.OPEN:
            return
        running = self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number))
        session.LastOrderAckSendTime = min(session.LastOrderAckSendTime, now.utc_s)
        elapsed_s = (now.utc_s - session.LastOrderAckSendTime) * self.qm.settings.scale
        if not running or elapsed_s < session.MaximumOrderAckDelay:
            self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)

    def on_send_timer(self, session: Session, now: Now) -> None:
        """Acknowledge the messages that are on disk, once for each sequence. Spec: MS-MQQB 3.1.6.9.

        Nothing is sent for a sequence of which nothing was accepted: 0 is no TxSequenceNumber (2.2.4.1).
        """
        if session.SessionState is not SessionState.OPEN:
            return
        due, session.order_acks_due = session.order_acks_due, {}
        for transfer in due:
            if transfer.saved_number:
                name = self.name_order_queue(session, transfer.SenderIdentifier)
                body = self.build(transfer)
                self.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)
        session.LastOrderAckSendTime = now.utc_s

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        """Build the body of an OrderAck. Spec: MS-MQQB 2.2.4.1 (TxSequenceID: see receive_order_ack)."""
        return OrderAckBody(transfer.saved_identifier, transfer.saved_number, transfer.saved_number - 1)

    def name_order_queue(self, session: Session, source: UUID) -> str:
        """Name the order queue of a sender. Spec: MS-MQQB 3.1.7.17.

        A private name has the sender's GUID, not RemoteQMGuid: that is the router of a message that was routed.
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

        It goes out on the session that its messages came on, as figure 14 and 2.1.1 have it, and on one of its own only
        when there is none. An OrderAck is express (2.2.4: DM 0), a FinalAck recoverable (2.2.5: DM 1).
        """
        order_ack = message_class is MessageClass.MQMSG_CLASS_ORDER_ACK
        message = Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, self.qm.numbering.assign_identifier()),
            DestinationQueueFormatName=name,
            DestinationQueueManagerIdentifier=destination_guid(name),
            Class=message_class,
            Priority=0,
            DeliveryGuarantee=DeliveryGuarantee.EXPRESS if order_ack else DeliveryGuarantee.RECOVERABLE,
            Label=LABEL,
            Body=body.build(),
            SentTime=now.utc_s,
        )
        queue = self._queue_of_open_session(name) or self.qm.destinations.open_outgoing(name, now)
        position = MessagePosition(message, queue)
        self.qm.disk.save(self.qm.durability.build_send_record(position))
        self.qm.sending.message_position_available(queue, position, now)

    def _queue_of_open_session(self, name: str) -> OutgoingQueue | None:
        """Find the queue of a session that is open to an order queue's host; an acceptor's gets one (3.1.7.1)."""
        for session in self.qm.sessions.values():
            if session.SessionState is not SessionState.OPEN:
                continue
            if self.name_order_queue(session, session.RemoteQMGuid) != name:
                continue
            if session.OutgoingQueueReference is None:
                queue = OutgoingQueue(Pathname=name, DestinationFormatName=name, State=OutgoingQueueState.CONNECTED)
                queue.session = session
                session.OutgoingQueueReference = queue
            if session.OutgoingQueueReference.State is OutgoingQueueState.CONNECTED:
                return session.OutgoingQueueReference
        return None
