"""Faults that break rules of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: later OrderAcks, intervals and sequences."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import NO_SEQUENCE_INFO, OutgoingTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("sender-time-of-last-ack-set-in-all-sessions", breaks="MQQB-3.1.5.6-03", blind=True)
class SenderTimeOfLastAckSetInAllSessions(OrderAcks):
    """An OrderAck sets TimeOfLastAck of the sessions to all destinations, and not only of the session whose sequence
    the OrderAck names.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.session.TxOutgoingSequence is not None:
                queue.session.TxOutgoingSequence.TimeOfLastAck = now.utc_s


@fault("sender-time-of-last-ack-not-set-in-later-sequence", breaks="MQQB-3.1.5.6-03", blind=True)
class SenderTimeOfLastAckNotSetInLaterSequence(OrderAcks):
    """An OrderAck for a later sequence of the destination leaves TimeOfLastAck unchanged."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        before = sequence.TimeOfLastAck
        super().note_last_message_in_order(session, body, now)
        if body.TxSequenceID.Ordinal > 1:
            sequence.TimeOfLastAck = before


@fault("sender-time-of-last-ack-not-set-while-messages-are-unacknowledged", breaks="MQQB-3.1.5.6-03", blind=True)
class SenderTimeOfLastAckNotSetWhileMessagesAreUnacknowledged(OrderAcks):
    """An OrderAck after which messages remain in UnackedSequence leaves TimeOfLastAck unchanged."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        before = sequence.TimeOfLastAck
        super().note_last_message_in_order(session, body, now)
        if sequence.UnackedSequence:
            sequence.TimeOfLastAck = before


@fault("sender-resend-index-set-to-last-by-order-ack", breaks="MQQB-3.1.5.6-04", blind=True)
class SenderResendIndexSetToLastByOrderAck(OrderAcks):
    """An OrderAck after which messages remain in UnackedSequence sets ResendIntervalIndex to the last entry."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        sequence, table = get_outgoing_sequence(session), self.qm.adm.ResendTimerTable
        if sequence.UnackedSequence:
            sequence.ResendIntervalIndex, sequence.ResendInterval = len(table) - 1, table[-1]


@fault("sender-resend-index-of-first-session-changed-by-every-order-ack", breaks="MQQB-3.1.5.6-04", blind=True)
class SenderResendIndexOfFirstSessionChangedByEveryOrderAck(TransactionalSending):
    """An OrderAck changes ResendIntervalIndex in the oldest session with transactional messages, even if the OrderAck
    names the sequence of another session.
    """

    def reset_resend_interval(self, session: Session) -> None:
        sessions = (queue.session for queue in self.qm.adm.OutgoingQueues.values())
        super().reset_resend_interval(next(one for one in sessions if one.TxOutgoingSequence is not None))


@fault("sender-resend-interval-is-table-entry-before-index", breaks="MQQB-3.1.5.6-06", blind=True)
class SenderResendIntervalIsTableEntryBeforeIndex(TransactionalSending):
    """ResendInterval is the entry of ResendTimerTable before the entry at ResendIntervalIndex."""

    def lengthen_resend_interval(self, session: Session) -> None:
        super().lengthen_resend_interval(session)
        sequence = get_outgoing_sequence(session)
        sequence.ResendInterval = self.qm.adm.ResendTimerTable[sequence.ResendIntervalIndex - 1]


@fault("sender-resend-interval-doubled-by-timeout", breaks="MQQB-3.1.5.6-06", blind=True)
class SenderResendIntervalDoubledByTimeout(TransactionalSending):
    """A timeout doubles ResendInterval instead of reading it from ResendTimerTable."""

    def lengthen_resend_interval(self, session: Session) -> None:
        before = get_outgoing_sequence(session).ResendInterval
        super().lengthen_resend_interval(session)
        get_outgoing_sequence(session).ResendInterval = 2 * before


@fault("sender-resend-index-kept-if-one-order-ack-covers-several-messages", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderResendIndexKeptIfOneOrderAckCoversSeveralMessages(OrderAcks):
    """An OrderAck that removes several entries at once, and so empties UnackedSequence, leaves ResendIntervalIndex
    unchanged.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        index, interval, count = sequence.ResendIntervalIndex, sequence.ResendInterval, len(sequence.UnackedSequence)
        super().note_last_message_in_order(session, body, now)
        if count > 1 and not sequence.UnackedSequence:
            sequence.ResendIntervalIndex, sequence.ResendInterval = index, interval


@fault("sender-resend-index-kept-in-later-sequence", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderResendIndexKeptInLaterSequence(OrderAcks):
    """When UnackedSequence of a later sequence becomes empty, the sender leaves ResendIntervalIndex unchanged."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        index, interval = sequence.ResendIntervalIndex, sequence.ResendInterval
        super().note_last_message_in_order(session, body, now)
        if body.TxSequenceID.Ordinal > 1 and not sequence.UnackedSequence:
            sequence.ResendIntervalIndex, sequence.ResendInterval = index, interval


@fault("sender-keeps-resend-index-while-session-ack-is-outstanding", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderKeepsResendIndexWhileSessionAckIsOutstanding(OrderAcks):
    """When UnackedSequence becomes empty, the sender leaves ResendIntervalIndex unchanged if a message of the sequence
    still awaits its session acknowledgment.
    """

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        index, interval = sequence.ResendIntervalIndex, sequence.ResendInterval
        super().note_last_message_in_order(session, body, now)
        waiting = any(one.TxSequenceNumber for one in session.OutgoingMessageTable.awaiting_ack)
        if waiting and not sequence.UnackedSequence:
            sequence.ResendIntervalIndex, sequence.ResendInterval = index, interval


class _OrderAcksWithChangedTransferInfo(OrderAcks):
    def update_outgoing_transfer_info(self, session: Session) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.OutgoingTransferInfoReference
        super().update_outgoing_transfer_info(session)
        if queue is not None and before is not None:
            queue.OutgoingTransferInfoReference = self.change_transfer_info(
                session, before, queue.OutgoingTransferInfoReference
            )

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        raise NotImplementedError


@fault("sender-eod-last-ack-count-counts-only-advancing-order-acks", breaks="MQQB-3.1.5.6-18", blind=True)
class SenderEodLastAckCountCountsOnlyAdvancingOrderAcks(_OrderAcksWithChangedTransferInfo):
    """EodLastAckCount does not change with an OrderAck that leaves LastAck unchanged."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        return (
            replace(after, EodLastAckCount=before.EodLastAckCount) if before.EodLastAck == after.EodLastAck else after
        )


@fault("sender-eod-last-ack-count-begins-again-with-sequence", breaks="MQQB-3.1.5.6-18", blind=True)
class SenderEodLastAckCountBeginsAgainWithSequence(_OrderAcksWithChangedTransferInfo):
    """When a sequence is complete, EodLastAckCount becomes zero, although LastAckCount does not."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        return after if after.EodNoAckCount else replace(after, EodLastAckCount=0)


@fault("sender-sets-prev-no-of-eod-first-non-ack-to-zero", breaks="MQQB-3.1.5.6-21", blind=True)
class SenderSetsPrevNoOfEodFirstNonAckToZero(_OrderAcksWithChangedTransferInfo):
    """PrevNo of EodFirstNonAck is zero instead of the PrevNo of the first entry of UnackedSequence."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        return replace(after, EodFirstNonAck=replace(after.EodFirstNonAck, PrevNo=0))


@fault("sender-eod-first-non-ack-kept-after-first-order-ack", breaks="MQQB-3.1.5.6-21", blind=True)
class SenderEodFirstNonAckKeptAfterFirstOrderAck(_OrderAcksWithChangedTransferInfo):
    """While messages are unacknowledged, later OrderAcks leave EodFirstNonAck at the value of the first OrderAck."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        kept = before.EodFirstNonAck if NO_SEQUENCE_INFO not in (before.EodFirstNonAck, after.EodFirstNonAck) else None
        return after if kept is None else replace(after, EodFirstNonAck=kept)


@fault("sender-eod-first-non-ack-copied-from-oldest-destination", breaks="MQQB-3.1.5.6-21", blind=True)
class SenderEodFirstNonAckCopiedFromOldestDestination(_OrderAcksWithChangedTransferInfo):
    """EodFirstNonAck is the first entry of UnackedSequence of the oldest destination with unacknowledged messages."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        sequences = [queue.session.TxOutgoingSequence for queue in self.qm.adm.OutgoingQueues.values()]
        unacked = [one.UnackedSequence[0] for one in sequences if one is not None and one.UnackedSequence]
        return replace(after, EodFirstNonAck=unacked[0]) if unacked else after


@fault("sender-eod-last-non-ack-is-last-accepted-message", breaks="MQQB-3.1.5.6-22", blind=True)
class SenderEodLastNonAckIsLastAcceptedMessage(_OrderAcksWithChangedTransferInfo):
    """EodLastNonAck names the last message of the sequence in the outgoing queue, even if this message was not sent."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        number = after.EodNextSeq.SeqNo - 1
        if after.EodNoAckCount == 0:
            return after
        return replace(after, EodLastNonAck=replace(after.EodLastNonAck, SeqNo=number, PrevNo=number - 1))


@fault("sender-eod-last-non-ack-kept-by-later-order-acks", breaks="MQQB-3.1.5.6-22", blind=True)
class SenderEodLastNonAckKeptByLaterOrderAcks(_OrderAcksWithChangedTransferInfo):
    """While messages are unacknowledged, later OrderAcks leave EodLastNonAck unchanged, even if the sender has sent
    further messages.
    """

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        kept = before.EodLastNonAck if NO_SEQUENCE_INFO not in (before.EodLastNonAck, after.EodLastNonAck) else None
        return after if kept is None else replace(after, EodLastNonAck=kept)


@fault("sender-sets-seq-id-of-eod-last-non-ack-to-zero", breaks="MQQB-3.1.5.6-22", blind=True)
class SenderSetsSeqIdOfEodLastNonAckToZero(_OrderAcksWithChangedTransferInfo):
    """SeqID of EodLastNonAck is zero instead of the SeqID of the last entry of UnackedSequence."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        return replace(after, EodLastNonAck=replace(after.EodLastNonAck, SeqID=0))


@fault("sender-time-of-last-ack-not-set-by-order-ack-on-accepted-session", breaks="MQQB-3.1.5.6-03")
class SenderTimeOfLastAckNotSetByOrderAckOnAcceptedSession(OrderAcks):
    """An OrderAck that arrives on a session that the sender accepted leaves TimeOfLastAck unchanged."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        sequences = [queue.session.TxOutgoingSequence for queue in self.qm.adm.OutgoingQueues.values()]
        times = [(one, one.TimeOfLastAck) for one in sequences if one is not None]
        super().receive(session, packet, now)
        if not session.initiator:
            for sequence, time in times:
                sequence.TimeOfLastAck = time
            for queue in self.qm.adm.OutgoingQueues.values():
                self.update_outgoing_transfer_info(queue.session)


@fault("sender-eod-last-ack-count-includes-earlier-sessions", breaks="MQQB-3.1.5.6-18")
class SenderEodLastAckCountIncludesEarlierSessions(_OrderAcksWithChangedTransferInfo):
    """After a lost session, EodLastAckCount also counts the OrderAcks of the earlier sessions, unlike LastAckCount."""

    def change_transfer_info(
        self, session: Session, before: OutgoingTransferInfo, after: OutgoingTransferInfo
    ) -> OutgoingTransferInfo:
        return replace(after, EodLastAckCount=before.EodLastAckCount + 1)
