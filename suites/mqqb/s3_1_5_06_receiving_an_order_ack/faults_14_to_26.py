"""Faults that break the rules MQQB-3.1.5.6-14 to MQQB-3.1.5.6-26."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import OrderAckBody, SequenceInfo, TxSequenceID
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import (
    NO_SEQUENCE_INFO,
    OutgoingMessagePosition,
    OutgoingTransferInfo,
    Session,
)
from reference_qm.surface.clock import Now


@fault("sender-order-acked-journaled-message-deleted", breaks=("MQQB-3.1.5.6-14", "MQQB-3.1.1.6.2-11"))
class SenderOrderAckedJournaledMessageDeleted(TransactionalSending):
    """The sender deletes a message with journaling when its OrderAck arrives, without waiting for its FinalAck."""

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


@fault("sender-message-with-early-order-ack-not-kept-until-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderMessageWithEarlyOrderAckNotKeptUntilFinalAck(TransactionalSending):
    """If the OrderAck of a message with JN or JP arrives before the session acknowledgment, the sender does not keep
    the message until its FinalAck arrives.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().keep_message_until_order_ack(session, position)
        if position.ReceivedOrderAck:
            session.AwaitingFinalACKTable.pop(position.UserMessage.UserHeader.MessageID, None)


@fault("sender-message-with-only-jp-deleted-before-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderMessageWithOnlyJpDeletedBeforeFinalAck(TransactionalSending):
    """After the OrderAck, the sender keeps a message until its FinalAck only if JN is set, but not if
    only JP is set.
    """

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_order_acknowledged_message(session, position)
        header = position.UserMessage.UserHeader
        if not header.JN:
            session.AwaitingFinalACKTable.pop(header.MessageID, None)


@fault("sender-only-last-journaled-message-kept-until-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderOnlyLastJournaledMessageKeptUntilFinalAck(TransactionalSending):
    """When one OrderAck acknowledges several messages with JN or JP, the sender keeps only the last of these messages
    until the FinalAck arrives.
    """

    def delete_order_acknowledged_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_order_acknowledged_message(session, position)
        table = session.AwaitingFinalACKTable
        for key in list(table)[:-1]:
            del table[key]


add(
    "sender-new-sequence-not-begun",
    ("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"),
    "The sender continues its sequence when all messages are acknowledged.",
    omit_step(TransactionalSending.begin_sequence),
)


@fault("sender-first-number-of-later-sequence-is-2", breaks=("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"))
class SenderFirstNumberOfLaterSequenceIs2(TransactionalSending):
    """The sender begins a second or later sequence with number 2."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID != before:
            session.OutgoingTxSequenceNumber = 2


@fault("sender-no-new-sequence-while-final-acks-are-missing", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderNoNewSequenceWhileFinalAcksAreMissing(TransactionalSending):
    """The sender begins no new sequence while a message of the sequence awaits its FinalAck."""

    def begin_sequence(self, session: Session) -> None:
        if not session.AwaitingFinalACKTable:
            super().begin_sequence(session)


@fault("sender-ordinal-of-third-sequence-increased-by-two", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderOrdinalOfThirdSequenceIncreasedByTwo(TransactionalSending):
    """The third sequence of the sender has an Ordinal that is two higher than the Ordinal of the second sequence."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if before.Ordinal == 2 and session.OutgoingTxSequenceID.Ordinal == 3:
            session.OutgoingTxSequenceID = TxSequenceID(4, before.TimeStamp)


@fault("sender-third-sequence-begins-with-number-2", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderThirdSequenceBeginsWithNumber2(TransactionalSending):
    """The sender gives the first message after the second sequence TxSequenceNumber 2."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID != before and before.Ordinal >= 2:
            session.OutgoingTxSequenceNumber = 2


add(
    "sender-order-ack-transfer-info-not-set",
    "MQQB-3.1.5.6-16",
    "The sender does not set OutgoingTransferInfo when it receives an OrderAck.",
    omit_step(OrderAcks.update_outgoing_transfer_info),
)


def _replace_transfer_info_element(element: str, value: object) -> Install:
    class Transfer(OrderAcks):
        def update_outgoing_transfer_info(self, session: Session) -> None:
            super().update_outgoing_transfer_info(session)
            queue = session.OutgoingQueueReference
            if queue is not None:
                info: Any = queue.OutgoingTransferInfoReference
                queue.OutgoingTransferInfoReference = replace(info, **{element: value})

    return replace_part(Transfer)


_FAULTS_OF_TRANSFER_INFO_ELEMENTS: tuple[tuple[str, str, str, object], ...] = (
    ("sender-transfer-info-last-ack-time-wrong", "MQQB-3.1.5.6-17", "EodLastAckTime", 0),
    ("sender-transfer-info-last-ack-count-wrong", "MQQB-3.1.5.6-18", "EodLastAckCount", 7),
    ("sender-transfer-info-no-ack-count-wrong", "MQQB-3.1.5.6-19", "EodNoAckCount", 7),
    ("sender-transfer-info-resend-interval-wrong", "MQQB-3.1.5.6-20", "EodResendInterval", 7),
    ("sender-transfer-info-first-non-ack-wrong", "MQQB-3.1.5.6-21", "EodFirstNonAck", NO_SEQUENCE_INFO),
    ("sender-transfer-info-last-non-ack-wrong", "MQQB-3.1.5.6-22", "EodLastNonAck", NO_SEQUENCE_INFO),
    ("sender-transfer-info-last-ack-wrong", "MQQB-3.1.5.6-23", "EodLastAck", NO_SEQUENCE_INFO),
    ("sender-transfer-info-no-read-count-wrong", "MQQB-3.1.5.6-24", "EodNoReadCount", 0),
    ("sender-transfer-info-resend-count-wrong", "MQQB-3.1.5.6-25", "EodResendCount", 7),
    ("sender-transfer-info-resend-time-wrong", "MQQB-3.1.5.6-26", "EodResendTime", 7),
)


for _name, _rule, _element, _value in _FAULTS_OF_TRANSFER_INFO_ELEMENTS:
    add(
        _name,
        _rule,
        f"The sender sets {_element} of OutgoingTransferInfo to a constant.",
        _replace_transfer_info_element(_element, _value),
    )


@fault("sender-every-order-ack-sets-transfer-info-of-first-queue", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderEveryOrderAckSetsTransferInfoOfFirstQueue(OrderAcks):
    """The sender stores the values of every OrderAck in OutgoingTransferInfo of its first outgoing queue."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        own = session.OutgoingQueueReference
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if own is not None and first is not own:
            first.OutgoingTransferInfoReference = own.OutgoingTransferInfoReference
            own.OutgoingTransferInfoReference = OutgoingTransferInfo()


def _set_transfer_info_fields(session: Session, **changes: Any) -> None:
    queue = session.OutgoingQueueReference
    if queue is not None:
        queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, **changes)


@fault("sender-eod-last-ack-time-is-time-of-first-order-ack", breaks="MQQB-3.1.5.6-17", blind=True)
class SenderEodLastAckTimeIsTimeOfFirstOrderAck(OrderAcks):
    """The sender sets EodLastAckTime to the time of the first OrderAck of the session."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.OutgoingTransferInfoReference
        super().update_outgoing_transfer_info(session)
        if before is not None and before.EodLastAckCount:
            _set_transfer_info_fields(session, EodLastAckTime=before.EodLastAckTime)


@fault("sender-eod-last-ack-count-counts-order-acks-of-all-queues", breaks="MQQB-3.1.5.6-18", blind=True)
class SenderEodLastAckCountCountsOrderAcksOfAllQueues(OrderAcks):
    """The sender counts in EodLastAckCount the OrderAcks of all outgoing queues."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        sequences = [queue.session.TxOutgoingSequence for queue in self.qm.adm.OutgoingQueues.values()]
        _set_transfer_info_fields(
            session, EodLastAckCount=sum(one.LastAckCount for one in sequences if one is not None)
        )


@fault("sender-eod-no-ack-count-at-most-1", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderEodNoAckCountAtMost1(OrderAcks):
    """The sender sets EodNoAckCount to 1 when UnackedSequence has several entries."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        _set_transfer_info_fields(session, EodNoAckCount=min(1, len(get_outgoing_sequence(session).UnackedSequence)))


class _TransferInfoChanger(OrderAcks):
    def change(self, session: Session) -> None:
        raise NotImplementedError

    def update_outgoing_transfer_info(self, session: Session) -> None:
        before = (
            None
            if session.OutgoingQueueReference is None
            else session.OutgoingQueueReference.OutgoingTransferInfoReference
        )
        _transfer_info_before_last_order_ack[0] = before
        super().update_outgoing_transfer_info(session)
        self.change(session)


_transfer_info_before_last_order_ack: list[Any] = [None]


@fault("sender-eod-no-ack-count-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderEodNoAckCountSetOnlyByFirstOrderAck(_TransferInfoChanger):
    """The sender sets EodNoAckCount only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if (
            _transfer_info_before_last_order_ack[0] is not None
            and _transfer_info_before_last_order_ack[0].EodLastAckCount
        ):
            _set_transfer_info_fields(session, EodNoAckCount=_transfer_info_before_last_order_ack[0].EodNoAckCount)


@fault("sender-eod-resend-interval-is-in-milliseconds", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderEodResendIntervalIsInMilliseconds(OrderAcks):
    """The sender sets EodResendInterval to ResendInterval in milliseconds."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        _set_transfer_info_fields(session, EodResendInterval=1_000 * get_outgoing_sequence(session).ResendInterval)


@fault("sender-eod-resend-interval-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderEodResendIntervalSetOnlyByFirstOrderAck(_TransferInfoChanger):
    """The sender sets EodResendInterval only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if (
            _transfer_info_before_last_order_ack[0] is not None
            and _transfer_info_before_last_order_ack[0].EodLastAckCount
        ):
            _set_transfer_info_fields(
                session, EodResendInterval=_transfer_info_before_last_order_ack[0].EodResendInterval
            )


@fault("sender-sets-seq-id-of-eod-first-non-ack-to-zero", breaks="MQQB-3.1.5.6-21", blind=True)
class SenderSetsSeqIdOfEodFirstNonAckToZero(OrderAcks):
    """The sender sets SeqID of EodFirstNonAck to 0."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if unacked:
            _set_transfer_info_fields(session, EodFirstNonAck=SequenceInfo(0, unacked[0].SeqNo, unacked[0].PrevNo))


@fault("sender-eod-last-non-ack-is-first-unacked-entry", breaks="MQQB-3.1.5.6-22", blind=True)
class SenderEodLastNonAckIsFirstUnackedEntry(OrderAcks):
    """The sender sets EodLastNonAck to the first entry of UnackedSequence."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if unacked:
            _set_transfer_info_fields(session, EodLastNonAck=unacked[0])


@fault("sender-sets-prev-no-of-eod-last-ack-to-zero", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderSetsPrevNoOfEodLastAckToZero(OrderAcks):
    """The sender sets PrevNo of EodLastAck to 0."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        last = get_outgoing_sequence(session).LastAck
        _set_transfer_info_fields(session, EodLastAck=SequenceInfo(last.SeqID, last.SeqNo, 0))


@fault("sender-eod-last-ack-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderEodLastAckSetOnlyByFirstOrderAck(_TransferInfoChanger):
    """The sender sets EodLastAck only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if (
            _transfer_info_before_last_order_ack[0] is not None
            and _transfer_info_before_last_order_ack[0].EodLastAckCount
        ):
            _set_transfer_info_fields(session, EodLastAck=_transfer_info_before_last_order_ack[0].EodLastAck)


@fault("sender-eod-no-read-count-counts-messages-of-all-queues", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderEodNoReadCountCountsMessagesOfAllQueues(OrderAcks):
    """The sender counts in EodNoReadCount the messages that await a FinalAck in all outgoing queues, not only in one
    queue.
    """

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        count = sum(len(queue.session.AwaitingFinalACKTable) for queue in self.qm.adm.OutgoingQueues.values())
        _set_transfer_info_fields(session, EodNoReadCount=count)


@fault("sender-eod-no-read-count-at-most-1", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderEodNoReadCountAtMost1(_TransferInfoChanger):
    """The sender limits EodNoReadCount to 1."""

    def change(self, session: Session) -> None:
        _set_transfer_info_fields(session, EodNoReadCount=min(1, len(session.AwaitingFinalACKTable)))


@fault("sender-eod-resend-count-is-index-plus-one", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderEodResendCountIsIndexPlusOne(OrderAcks):
    """The sender sets EodResendCount to ResendIntervalIndex plus one."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        _set_transfer_info_fields(session, EodResendCount=get_outgoing_sequence(session).ResendIntervalIndex + 1)


@fault("sender-eod-resend-count-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderEodResendCountSetOnlyByFirstOrderAck(_TransferInfoChanger):
    """The sender sets EodResendCount only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if (
            _transfer_info_before_last_order_ack[0] is not None
            and _transfer_info_before_last_order_ack[0].EodLastAckCount
        ):
            _set_transfer_info_fields(session, EodResendCount=_transfer_info_before_last_order_ack[0].EodResendCount)


@fault("sender-eod-resend-time-0-while-messages-are-unacked", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderEodResendTime0WhileMessagesAreUnacked(OrderAcks):
    """The sender sets EodResendTime to 0 while messages remain in UnackedSequence."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        _set_transfer_info_fields(session, EodResendTime=0)


@fault("sender-eod-resend-time-set-only-by-first-order-ack", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderEodResendTimeSetOnlyByFirstOrderAck(_TransferInfoChanger):
    """The sender sets EodResendTime only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if (
            _transfer_info_before_last_order_ack[0] is not None
            and _transfer_info_before_last_order_ack[0].EodLastAckCount
        ):
            _set_transfer_info_fields(session, EodResendTime=_transfer_info_before_last_order_ack[0].EodResendTime)


@fault("sender-eod-last-ack-lowered-by-late-order-ack", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderEodLastAckLoweredByLateOrderAck(OrderAcks):
    """The sender sets EodLastAck to the numbers of an OrderAck that arrives after the OrderAck of a later message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.late: SequenceInfo | None = None

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note_last_message_in_order(session, body, now)
        last = get_outgoing_sequence(session).LastAck
        if last.SeqID == int(body.TxSequenceID) and body.TxSequenceNumber < last.SeqNo:
            self.late = SequenceInfo(last.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue, late, self.late = session.OutgoingQueueReference, self.late, None
        if late is not None and queue is not None:
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodLastAck=late)


@fault("sender-eod-no-read-count-is-count-of-last-order-ack", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderEodNoReadCountIsCountOfLastOrderAck(OrderAcks):
    """The sender sets EodNoReadCount to the number of messages that the last OrderAck moved to the
    AwaitingFinalACKTable, instead of the number of all messages in this table.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.moved: int | None = None

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        before = len(session.AwaitingFinalACKTable)
        super().delete_order_acknowledged_messages(session, body)
        self.moved = len(session.AwaitingFinalACKTable) - before

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue, moved = session.OutgoingQueueReference, self.moved
        if queue is not None and moved is not None:
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoReadCount=moved)
        self.moved = None
