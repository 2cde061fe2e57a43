"""Faults of MS-MQQB 3.1.1.5 Transactional Message Sequence: ended sequences, and forwarded sequences."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    OrderAckBody,
    PrivateName,
    SequenceInfo,
    TxSequenceID,
    UserMessagePacket,
)
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _reuse_identifiers_of_ended_sequences(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        session = queue.session
        old = session.OutgoingTxSequenceID
        if session.OutgoingTxSequenceNumber == 1 and old.Ordinal > 1:
            session.OutgoingTxSequenceID = TxSequenceID(Ordinal=old.Ordinal - 1, TimeStamp=old.TimeStamp)


add(
    "sender-ended-sequence-continued-after-restart",
    "MQQB-3.1.1.5-05",
    "After a restart, the sender sends its next message in the sequence that had ended before.",
    change_core_at_restart(_reuse_identifiers_of_ended_sequences),
    blind=True,
)


@fault("sender-sequence-ended-by-session-ack-continued", breaks="MQQB-3.1.1.5-05", blind=True)
class SenderSequenceEndedBySessionAckContinued(TransactionalSending):
    """The sender continues a sequence whose last OrderAck arrived before the SessionAck."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        before = session.OutgoingTxSequenceID, session.OutgoingTxSequenceNumber
        super().keep_message_until_order_ack(session, position)
        session.OutgoingTxSequenceID, session.OutgoingTxSequenceNumber = before


@fault("router-order-ack-for-second-forwarded-message", breaks="MQQB-3.1.1.5-06", blind=True)
class RouterOrderAckForSecondForwardedMessage(MessageRouting):
    """The router sends an OrderAck to the source when it forwards the second message of a sequence."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        header = packet.TransactionHeader
        if header is not None and header.TxSequenceNumber == 2:
            name = str(PrivateName(packet.UserHeader.SourceQueueManager, ORDER_QUEUE_NUMBER))
            body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


@fault("router-final-ack-for-forwarded-journaled-message", breaks="MQQB-3.1.1.5-06", blind=True)
class RouterFinalAckForForwardedJournaledMessage(MessageRouting):
    """The router sends a FinalAck of the class ACK_RECEIVE when it forwards a transactional message with JN or JP."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        header, user = packet.TransactionHeader, packet.UserHeader
        if header is not None and (user.JN or user.JP):
            name = str(PrivateName(user.SourceQueueManager, ORDER_QUEUE_NUMBER))
            body = FinalAckBody(
                header.TxSequenceID,
                header.TxSequenceNumber,
                header.PreviousTxSequenceNumber,
                user.SourceQueueManager,
                user.MessageID,
            )
            self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ACK_RECEIVE, body, now)


class _LastSequenceInfoFault(TransactionalSending):
    """A base class of faults in the SEQUENCE_INFO of a message that is sent for the first time."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        unacked = get_outgoing_sequence(session).UnackedSequence
        count = len(unacked)
        packet = super().update_transaction_header(session, position, now)
        if len(unacked) > count:
            unacked[-1] = self.change_sequence_info(session, unacked[-1])
        return packet

    def change_sequence_info(self, session: Session, entry: SequenceInfo) -> SequenceInfo:
        """Return the changed entry."""
        raise NotImplementedError


@fault("sender-sequence-info-of-later-sequence-with-first-id", breaks="MQQB-3.1.1.5-D01", blind=True)
class SenderSequenceInfoOfLaterSequenceWithFirstId(_LastSequenceInfoFault):
    """SeqID of a message of a later sequence contains the Ordinal 1."""

    def change_sequence_info(self, session: Session, entry: SequenceInfo) -> SequenceInfo:
        return replace(entry, SeqID=entry.SeqID >> 32 << 32 | 1)


@fault("sender-seq-id-of-second-queue-is-that-of-first-queue", breaks="MQQB-3.1.1.5-D01", blind=True)
class SenderSeqIdOfSecondQueueIsThatOfFirstQueue(_LastSequenceInfoFault):
    """SeqID of a message of any queue is OutgoingTxSequenceID of the first queue."""

    def change_sequence_info(self, session: Session, entry: SequenceInfo) -> SequenceInfo:
        first = next(iter(self.qm.adm.OutgoingQueues.values())).session
        return replace(entry, SeqID=int(first.OutgoingTxSequenceID))


@fault("sender-seq-no-counts-only-unacknowledged-messages", breaks="MQQB-3.1.1.5-D02", blind=True)
class SenderSeqNoCountsOnlyUnacknowledgedMessages(_LastSequenceInfoFault):
    """SeqNo of a message is one more than the number of earlier messages without an OrderAck."""

    def change_sequence_info(self, session: Session, entry: SequenceInfo) -> SequenceInfo:
        return replace(entry, SeqNo=len(get_outgoing_sequence(session).UnackedSequence))


@fault("sender-sequence-info-number-of-later-sequence-continued", breaks="MQQB-3.1.1.5-D02", blind=True)
class SenderSequenceInfoNumberOfLaterSequenceContinued(_LastSequenceInfoFault):
    """SeqNo of the messages of a later sequence continues the numbers of the preceding sequence."""

    def change_sequence_info(self, session: Session, entry: SequenceInfo) -> SequenceInfo:
        last = get_outgoing_sequence(session).LastAck
        later = last.SeqID and last.SeqID != entry.SeqID
        return replace(entry, SeqNo=entry.SeqNo + last.SeqNo) if later else entry
