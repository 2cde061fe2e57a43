"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now


@fault("sender-resend-interval-index-reset-only-once", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderResendIntervalIndexResetOnlyOnce(TransactionalSending):
    """The sender resets ResendIntervalIndex only for the first OrderAck that empties UnackedSequence."""

    def reset_resend_interval(self, session: Session) -> None:
        sequence = outgoing_sequence(session)
        if sequence.UnackedSequence or not sequence.ResendIntervalIndex:
            super().reset_resend_interval(session)
        elif session.number not in _reset.get(self.qm, ()):
            _reset.setdefault(self.qm, set()).add(session.number)
            super().reset_resend_interval(session)


_reset: WeakKeyDictionary[QueueManager, set[int]] = WeakKeyDictionary()


@fault("sender-last-ack-count-not-reset-counts-other-queues", breaks="MQQB-3.1.5.6-12", blind=True)
class SenderLastAckCountNotResetCountsOtherQueues(OrderAcks):
    """The sender does not increment LastAckCount for an OrderAck that arrives while the queue is on hold."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note(session, body, now)
        queue = session.OutgoingQueueReference
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            outgoing_sequence(session).LastAckCount -= 1


@fault("sender-order-ack-of-queue-on-hold-ignored", breaks=("MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09"), blind=True)
class SenderOrderAckOfQueueOnHoldIgnored(OrderAcks):
    """The sender ignores an OrderAck for a queue on hold."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if queue is None or queue.State is not OutgoingQueueState.ON_HOLD:
            super().note(session, body, now)


@fault("sender-order-acked-unacknowledged-message-resent-on-new-session", breaks="MQQB-3.1.5.6-13", blind=True)
class SenderOrderAckedUnacknowledgedMessageResentOnNewSession(TransactionalSending):
    """The sender keeps a transactional message whose OrderAck arrives before its session acknowledgment, and sends the
    message again on the next session.
    """

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        ordered, position.ReceivedOrderAck = position.ReceivedOrderAck, False
        super().retain(session, position)
        position.ReceivedOrderAck = ordered


@fault("sender-second-message-kept-not-until-final-ack", breaks="MQQB-3.1.5.6-14", blind=True)
class SenderSecondMessageKeptNotUntilFinalAck(TransactionalSending):
    """When one OrderAck covers several messages with JN or JP, the sender keeps only the last of these messages until
    its FinalAck.
    """

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_ordered(session, position)
        table = session.AwaitingFinalACKTable
        for key in list(table)[:-1]:
            del table[key]


@fault("sender-new-sequence-begins-with-next-number", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderNewSequenceBeginsWithNextNumber(TransactionalSending):
    """The sender gives the first message after the second sequence TxSequenceNumber 2."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID != before and before.Ordinal >= 2:
            session.OutgoingTxSequenceNumber = 2


def _change_transfer_info(session: Session, **changes: Any) -> None:
    queue = session.OutgoingQueueReference
    if queue is not None:
        queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, **changes)


class _ChangingTransferInfo(OrderAcks):
    def change(self, session: Session) -> None:
        raise NotImplementedError

    def note_transfer(self, session: Session) -> None:
        before = (
            None
            if session.OutgoingQueueReference is None
            else session.OutgoingQueueReference.OutgoingTransferInfoReference
        )
        _old[0] = before
        super().note_transfer(session)
        self.change(session)


_old: list[Any] = [None]


@fault("sender-no-ack-count-not-decreased-by-second-order-ack", breaks="MQQB-3.1.5.6-19", blind=True)
class SenderNoAckCountNotDecreasedBySecondOrderAck(_ChangingTransferInfo):
    """The sender sets EodNoAckCount only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if _old[0] is not None and _old[0].EodLastAckCount:
            _change_transfer_info(session, EodNoAckCount=_old[0].EodNoAckCount)


@fault("sender-resend-time-of-first-order-ack-kept", breaks="MQQB-3.1.5.6-26", blind=True)
class SenderResendTimeOfFirstOrderAckKept(_ChangingTransferInfo):
    """The sender sets EodResendTime only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if _old[0] is not None and _old[0].EodLastAckCount:
            _change_transfer_info(session, EodResendTime=_old[0].EodResendTime)


@fault("sender-no-read-count-not-increased-by-second-order-ack", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderNoReadCountNotIncreasedBySecondOrderAck(_ChangingTransferInfo):
    """The sender limits EodNoReadCount to 1."""

    def change(self, session: Session) -> None:
        _change_transfer_info(session, EodNoReadCount=min(1, len(session.AwaitingFinalACKTable)))


@fault("sender-resend-interval-of-first-order-ack-kept", breaks="MQQB-3.1.5.6-20", blind=True)
class SenderResendIntervalOfFirstOrderAckKept(_ChangingTransferInfo):
    """The sender sets EodResendInterval only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if _old[0] is not None and _old[0].EodLastAckCount:
            _change_transfer_info(session, EodResendInterval=_old[0].EodResendInterval)


@fault("sender-last-ack-of-higher-number-kept", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderLastAckOfHigherNumberKept(_ChangingTransferInfo):
    """The sender sets EodLastAck only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if _old[0] is not None and _old[0].EodLastAckCount:
            _change_transfer_info(session, EodLastAck=_old[0].EodLastAck)


@fault("sender-resend-count-of-first-order-ack-kept", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderResendCountOfFirstOrderAckKept(_ChangingTransferInfo):
    """The sender sets EodResendCount only when the first OrderAck arrives."""

    def change(self, session: Session) -> None:
        if _old[0] is not None and _old[0].EodLastAckCount:
            _change_transfer_info(session, EodResendCount=_old[0].EodResendCount)
