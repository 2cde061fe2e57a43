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


@fault("early-order-ack-tolerated", breaks="MQQB-3.1.5.6-01")
class EarlyOrderAckTolerated(Closing):
    """An OrderAck before the session is open is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, UserMessagePacket) and is_order_ack(packet)):
            super().refuse_out_of_state(session, packet, now)


# -- TxOutgoingSequence --------------------------------------------------------------------------------------------

_Change = Callable[[OutgoingTransferSequence, OutgoingTransferSequence, OrderAckBody], None]
"""Spoils a sequence; gets it as it is, as it was, and the OrderAck."""


def _noted(change: _Change) -> Install:
    class Noted(OrderAcks):
        def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
            sequence = outgoing_sequence(session)
            before = replace(sequence, UnackedSequence=list(sequence.UnackedSequence))
            super().note(session, body, now)
            change(sequence, before, body)

    return replace_part(Noted)


def _time_kept(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.TimeOfLastAck = 0


def _two_steps(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 2


def _beyond(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendIntervalIndex = before.ResendIntervalIndex + 1


def _other_interval(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendInterval += 7


def _always_set(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAck = SequenceInfo(now.LastAck.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


def _never_set(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAck = before.LastAck


def _one_stays(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    removed = [one for one in before.UnackedSequence if one not in now.UnackedSequence]
    now.UnackedSequence[:0] = removed[-1:]


def _backwards(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.UnackedSequence.reverse()


def _not_begun_again(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.ResendIntervalIndex = now.ResendIntervalIndex or 1


def _not_counted(now: OutgoingTransferSequence, before: OutgoingTransferSequence, body: OrderAckBody) -> None:
    now.LastAckCount = before.LastAckCount


_NOTES: tuple[tuple[str, str, str, _Change], ...] = (
    (
        "order-ack-time-not-noted",
        "MQQB-3.1.5.6-03",
        "TimeOfLastAck is not set.",
        _time_kept,
    ),
    (
        "order-ack-two-intervals-further",
        "MQQB-3.1.5.6-04",
        "Each OrderAck lengthens the resend interval by two entries.",
        _two_steps,
    ),
    (
        "order-ack-intervals-without-end",
        "MQQB-3.1.5.6-05",
        "ResendIntervalIndex grows beyond the table.",
        _beyond,
    ),
    (
        "order-ack-other-interval",
        "MQQB-3.1.5.6-06",
        "ResendInterval is not the entry at ResendIntervalIndex.",
        _other_interval,
    ),
    (
        "order-ack-last-ack-set-back",
        "MQQB-3.1.5.6-07",
        "An older OrderAck sets LastAck back.",
        _always_set,
    ),
    (
        "order-ack-last-ack-not-set",
        "MQQB-3.1.5.6-08",
        "LastAck is never set.",
        _never_set,
    ),
    (
        "order-ack-one-unacknowledged-left",
        "MQQB-3.1.5.6-09",
        "The message that an OrderAck names stays in UnackedSequence.",
        _one_stays,
    ),
    (
        "order-ack-unacknowledged-backwards",
        "MQQB-3.1.5.6-10",
        "What is left in UnackedSequence is in reverse order.",
        _backwards,
    ),
    (
        "order-ack-interval-not-begun-again",
        "MQQB-3.1.5.6-11",
        "With nothing to resend ResendIntervalIndex is 1.",
        _not_begun_again,
    ),
    (
        "order-ack-not-counted",
        "MQQB-3.1.5.6-12",
        "LastAckCount stays as it was.",
        _not_counted,
    ),
)
for _name, _rule, _says, _change in _NOTES:
    add(_name, _rule, _says, _noted(_change))


# -- what becomes of the messages ----------------------------------------------------------------------------------

add(
    "ordered-messages-kept",
    ("MQQB-3.1.5.6-13", "MQQB-3.1.1.6.2-08"),
    "A message that is acknowledged in order is sent again on the next session.",
    skip(OrderAcks.delete_order_acknowledged),
)


@fault("not-kept-for-its-final-ack", breaks=("MQQB-3.1.5.6-14", "MQQB-3.1.1.6.2-11"))
class NotKeptForItsFinalAck(TransactionalSending):
    """A message that wants journaling is forgotten with its OrderAck."""

    def delete_ordered(self, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)


add(
    "no-other-sequence",
    ("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"),
    "The sequence goes on when all of it is acknowledged.",
    skip(TransactionalSending.begin_sequence),
)


@fault("later-sequence-begins-with-2", breaks=("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03"))
class LaterSequenceBeginsWith2(TransactionalSending):
    """A later sequence begins with number 2."""

    def begin_sequence(self, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        super().begin_sequence(session)
        if session.OutgoingTxSequenceID != before:
            session.OutgoingTxSequenceNumber = 2


# -- OutgoingTransferInfo ------------------------------------------------------------------------------------------


def _transfer(element: str, value: object) -> Install:
    class Transfer(OrderAcks):
        def note_transfer(self, session: Session) -> None:
            super().note_transfer(session)
            queue = session.OutgoingQueueReference
            if queue is not None:
                info: Any = queue.OutgoingTransferInfoReference
                queue.OutgoingTransferInfoReference = replace(info, **{element: value})

    return replace_part(Transfer)


add("transfer-info-not-set", "MQQB-3.1.5.6-16", "OutgoingTransferInfo is never set.", skip(OrderAcks.note_transfer))
_TRANSFER: tuple[tuple[str, str, str, object], ...] = (
    ("transfer-info-EodLastAckTime", "MQQB-3.1.5.6-17", "EodLastAckTime", 0),
    ("transfer-info-EodLastAckCount", "MQQB-3.1.5.6-18", "EodLastAckCount", 7),
    ("transfer-info-EodNoAckCount", "MQQB-3.1.5.6-19", "EodNoAckCount", 7),
    ("transfer-info-EodResendInterval", "MQQB-3.1.5.6-20", "EodResendInterval", 7),
    ("transfer-info-EodFirstNonAck", "MQQB-3.1.5.6-21", "EodFirstNonAck", NO_SEQUENCE),
    ("transfer-info-EodLastNonAck", "MQQB-3.1.5.6-22", "EodLastNonAck", NO_SEQUENCE),
    ("transfer-info-EodLastAck", "MQQB-3.1.5.6-23", "EodLastAck", NO_SEQUENCE),
    ("transfer-info-EodNoReadCount", "MQQB-3.1.5.6-24", "EodNoReadCount", 0),
    ("transfer-info-EodResendCount", "MQQB-3.1.5.6-25", "EodResendCount", 7),
    ("transfer-info-EodResendTime", "MQQB-3.1.5.6-26", "EodResendTime", 7),
)
for _name, _rule, _element, _value in _TRANSFER:
    add(_name, _rule, f"{_element} is not what it counts.", _transfer(_element, _value))


@fault("order-ack-deletes-the-named-message-alone", breaks="MQQB-3.1.5.6-13", blind=True)
class OrderAckDeletesTheNamedMessageAlone(OrderAcks):
    """An OrderAck deletes the message with its number, and not those before it."""

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        kept = [one for one in session.OutgoingMessageTable if 0 < one.TxSequenceNumber < body.TxSequenceNumber]
        numbers = [one.TxSequenceNumber for one in kept]
        for one in kept:
            one.TxSequenceNumber = 0
        super().delete_order_acknowledged(session, body)
        for one, number in zip(kept, numbers, strict=True):
            one.TxSequenceNumber = number
