"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet that depend on the number, the order or the session of an
OrderAck.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, SequenceInfo
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-order-ack-of-preceding-number-sets-last-ack-back", breaks="MQQB-3.1.5.6-07", blind=True)
class SenderOrderAckOfPrecedingNumberSetsLastAckBack(OrderAcks):
    """The sender sets LastAck back when an OrderAck arrives whose number is lower by one."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = get_outgoing_sequence(session).LastAck
        super().note_last_message_in_order(session, body, now)
        if body.TxSequenceNumber == before.SeqNo - 1 and before.SeqID == int(body.TxSequenceID):
            get_outgoing_sequence(session).LastAck = replace(before, SeqNo=body.TxSequenceNumber)


@fault("sender-late-order-ack-changes-previous-number-of-last-ack", breaks="MQQB-3.1.5.6-07", blind=True)
class SenderLateOrderAckChangesPreviousNumberOfLastAck(OrderAcks):
    """When an OrderAck with a lower number arrives, the sender sets the previous number of LastAck to the previous
    number of this OrderAck.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = get_outgoing_sequence(session).LastAck
        super().note_last_message_in_order(session, body, now)
        if body.TxSequenceNumber < before.SeqNo and before.SeqID == int(body.TxSequenceID):
            get_outgoing_sequence(session).LastAck = replace(before, PrevNo=body.TxPreviousSequenceNumber)


@fault("sender-second-late-order-ack-sets-last-ack-back", breaks="MQQB-3.1.5.6-07", blind=True)
class SenderSecondLateOrderAckSetsLastAckBack(OrderAcks):
    """The sender sets LastAck to the number of an OrderAck with a lower number from the fourth OrderAck on."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        before = get_outgoing_sequence(session).LastAck
        super().note_last_message_in_order(session, body, now)
        sequence = get_outgoing_sequence(session)
        if sequence.LastAckCount > 3 and body.TxSequenceNumber < before.SeqNo:
            sequence.LastAck = SequenceInfo(before.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


@fault("sender-swaps-last-two-entries-of-unacked-sequence", breaks="MQQB-3.1.5.6-10", blind=True)
class SenderSwapsLastTwoEntriesOfUnackedSequence(OrderAcks):
    """The sender exchanges the last two entries of UnackedSequence if three or more remain after an OrderAck."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if len(unacked) > 2:
            unacked[-2:] = reversed(unacked[-2:])


@fault("sender-swaps-second-and-third-entry-of-unacked-sequence", breaks="MQQB-3.1.5.6-10", blind=True)
class SenderSwapsSecondAndThirdEntryOfUnackedSequence(OrderAcks):
    """The sender exchanges the second and the third of four or more entries of UnackedSequence after an OrderAck."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if len(unacked) > 3:
            unacked[1:3] = reversed(unacked[1:3])


@fault("sender-unacknowledged-entries-reversed-by-later-order-ack", breaks="MQQB-3.1.5.6-10", blind=True)
class SenderUnacknowledgedEntriesReversedByLaterOrderAck(OrderAcks):
    """The sender reverses UnackedSequence when the second or a later OrderAck of a session arrives."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        sequence = get_outgoing_sequence(session)
        if sequence.LastAckCount > 1:
            sequence.UnackedSequence.reverse()


@fault("sender-transfer-info-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-16", blind=True)
class SenderTransferInfoSetOnlyByFirstOrderAck(OrderAcks):
    """The sender sets OutgoingTransferInfo only when the first OrderAck of a session arrives."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        if get_outgoing_sequence(session).LastAckCount < 2:
            super().update_outgoing_transfer_info(session)


@fault("sender-transfer-info-not-set-by-last-order-ack", breaks="MQQB-3.1.5.6-16", blind=True)
class SenderTransferInfoNotSetByLastOrderAck(OrderAcks):
    """The sender does not set OutgoingTransferInfo when an OrderAck leaves no unacknowledged message."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        if get_outgoing_sequence(session).UnackedSequence:
            super().update_outgoing_transfer_info(session)


@fault("sender-transfer-info-set-only-in-first-queue", breaks="MQQB-3.1.5.6-16", blind=True)
class SenderTransferInfoSetOnlyInFirstQueue(OrderAcks):
    """The sender sets OutgoingTransferInfo only in the first outgoing queue."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()), None)
        if session.OutgoingQueueReference is first:
            super().update_outgoing_transfer_info(session)
