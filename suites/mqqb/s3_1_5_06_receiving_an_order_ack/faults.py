"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.codec import OrderAckBody, Packet, SequenceInfo, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import NO_SEQUENCE, OutgoingMessagePosition, OutgoingTransferSequence, Session
from reference_qm.surface.clock import Now


@fault("any-order-ack-before-open-session-ignored", breaks="MQQB-3.1.5.6-01")
class AnyOrderAckBeforeOpenSessionIgnored(Closing):
    """A queue manager ignores an OrderAck before the session is open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


# -- TxOutgoingSequence --------------------------------------------------------------------------------------------

_Change = Callable[[OutgoingTransferSequence, OutgoingTransferSequence, OrderAckBody], None]
"""A function that changes a sequence after an OrderAck; the arguments are the sequence, its old value and the OrderAck.
"""


def _change_after_order_ack(change: _Change) -> Install:
    class Noted(OrderAcks):
        def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
            sequence = outgoing_sequence(session)
            before = replace(sequence, UnackedSequence=list(sequence.UnackedSequence))
            super().note(session, body, now)
            change(sequence, before, body)

    return replace_part(Noted)


def _clear_time_of_last_ack(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.TimeOfLastAck = 0


def _skip_resend_interval(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 2


def _exceed_resend_table(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 1


def _change_resend_interval(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendInterval += 7


def _set_last_ack(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAck = SequenceInfo(now.LastAck.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


def _keep_last_ack(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAck = before.LastAck


def _keep_last_removed(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    removed = [one for one in before.UnackedSequence if one not in now.UnackedSequence]
    now.UnackedSequence[:0] = removed[-1:]


def _reverse_unacked_sequence(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.UnackedSequence.reverse()


def _keep_resend_interval_index(
    now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody
) -> None:
    now.ResendIntervalIndex = now.ResendIntervalIndex or 1


def _keep_last_ack_count(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAckCount = before.LastAckCount


_NOTES: tuple[tuple[str, str, str, _Change], ...] = (
    (
        "sender-order-ack-time-of-last-ack-not-set",
        "MQQB-3.1.5.6-03",
        "The sender does not set TimeOfLastAck when it receives an OrderAck.",
        _clear_time_of_last_ack,
    ),
    (
        "sender-order-ack-resend-interval-index-two-more",
        "MQQB-3.1.5.6-04",
        "The sender increments ResendIntervalIndex by two when it receives an OrderAck.",
        _skip_resend_interval,
    ),
    (
        "sender-order-ack-resend-interval-index-beyond-table",
        "MQQB-3.1.5.6-05",
        "The sender increments ResendIntervalIndex beyond the last entry of ResendTimerTable.",
        _exceed_resend_table,
    ),
    (
        "sender-order-ack-resend-interval-not-of-index",
        "MQQB-3.1.5.6-06",
        "The sender sets ResendInterval to a value other than the entry at ResendIntervalIndex.",
        _change_resend_interval,
    ),
    (
        "sender-late-order-ack-sets-last-ack-back",
        "MQQB-3.1.5.6-07",
        "When the sender receives an OrderAck, it sets LastAck to a number below the number in the OrderAck.",
        _set_last_ack,
    ),
    (
        "sender-order-ack-last-ack-not-set",
        "MQQB-3.1.5.6-08",
        "The sender does not set LastAck when it receives an OrderAck.",
        _keep_last_ack,
    ),
    (
        "sender-order-ack-named-message-left-unacked",
        "MQQB-3.1.5.6-09",
        "The sender does not remove from UnackedSequence the message that an OrderAck acknowledges.",
        _keep_last_removed,
    ),
    (
        "sender-order-ack-unacked-sequence-reversed",
        "MQQB-3.1.5.6-10",
        "The sender reverses the remaining entries of UnackedSequence when it receives an OrderAck.",
        _reverse_unacked_sequence,
    ),
    (
        "sender-order-ack-resend-interval-index-not-reset",
        "MQQB-3.1.5.6-11",
        "The sender sets ResendIntervalIndex to 1 instead of 0 when UnackedSequence is empty.",
        _keep_resend_interval_index,
    ),
    (
        "sender-order-ack-not-counted",
        "MQQB-3.1.5.6-12",
        "The sender does not increment LastAckCount when it receives an OrderAck.",
        _keep_last_ack_count,
    ),
)
for _name, _rule, _says, _change in _NOTES:
    add(_name, _rule, _says, _change_after_order_ack(_change))


# -- messages in the queue ----------------------------------------------------------------------------------------

add(
    "sender-order-acked-message-sent-again",
    ("MQQB-3.1.5.6-13", "MQQB-3.1.1.6.2-08"),
    "On the next session, the sender resends a message for which it has received an OrderAck.",
    skip(OrderAcks.delete_order_acknowledged),
)


@fault("sender-order-acked-journaled-message-deleted", breaks=("MQQB-3.1.5.6-14", "MQQB-3.1.1.6.2-11"))
class SenderOrderAckedJournaledMessageDeleted(TransactionalSending):
    """The sender deletes a message with journaling when its OrderAck arrives, without waiting for its FinalAck."""

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


add(
    "sender-new-sequence-not-begun",
    ("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"),
    "The sender continues its sequence when all messages are acknowledged.",
    skip(TransactionalSending.begin_sequence),
)


@fault("sender-later-sequence-begins-with-2", breaks=("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"))
class SenderLaterSequenceBeginsWith2(TransactionalSending):
    """The sender begins a second or later sequence with number 2."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID != before:
            session.OutgoingTxSequenceNumber = 2


# -- OutgoingTransferInfo ------------------------------------------------------------------------------------------


def _change_transfer_info(element: str, value: object) -> Install:
    class Transfer(OrderAcks):
        def note_transfer(self, session: Session) -> None:
            super().note_transfer(session)
            queue = session.OutgoingQueueReference
            if queue is not None:
                info: Any = queue.OutgoingTransferInfoReference
                queue.OutgoingTransferInfoReference = replace(info, **{element: value})

    return replace_part(Transfer)


add(
    "sender-order-ack-transfer-info-not-set",
    "MQQB-3.1.5.6-16",
    "The sender does not set OutgoingTransferInfo when it receives an OrderAck.",
    skip(OrderAcks.note_transfer),
)
_TRANSFER: tuple[tuple[str, str, str, object], ...] = (
    ("sender-transfer-info-last-ack-time-wrong", "MQQB-3.1.5.6-17", "EodLastAckTime", 0),
    ("sender-transfer-info-last-ack-count-wrong", "MQQB-3.1.5.6-18", "EodLastAckCount", 7),
    ("sender-transfer-info-no-ack-count-wrong", "MQQB-3.1.5.6-19", "EodNoAckCount", 7),
    ("sender-transfer-info-resend-interval-wrong", "MQQB-3.1.5.6-20", "EodResendInterval", 7),
    ("sender-transfer-info-first-non-ack-wrong", "MQQB-3.1.5.6-21", "EodFirstNonAck", NO_SEQUENCE),
    ("sender-transfer-info-last-non-ack-wrong", "MQQB-3.1.5.6-22", "EodLastNonAck", NO_SEQUENCE),
    ("sender-transfer-info-last-ack-wrong", "MQQB-3.1.5.6-23", "EodLastAck", NO_SEQUENCE),
    ("sender-transfer-info-no-read-count-wrong", "MQQB-3.1.5.6-24", "EodNoReadCount", 0),
    ("sender-transfer-info-resend-count-wrong", "MQQB-3.1.5.6-25", "EodResendCount", 7),
    ("sender-transfer-info-resend-time-wrong", "MQQB-3.1.5.6-26", "EodResendTime", 7),
)
for _name, _rule, _element, _value in _TRANSFER:
    add(
        _name,
        _rule,
        f"The sender sets {_element} of OutgoingTransferInfo to a constant.",
        _change_transfer_info(_element, _value),
    )


@fault("sender-order-ack-deletes-named-message-only", breaks="MQQB-3.1.5.6-13", blind=True)
class SenderOrderAckDeletesNamedMessageOnly(OrderAcks):
    """The sender deletes only the message with the number of an OrderAck, and not the messages before it."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for one in kept:
            one.TxSequenceNumber = 0
        super().delete_order_acknowledged(session, body)
        for one, number in zip(kept, numbers, strict=True):
            one.TxSequenceNumber = number
