"""Faults of the sender of transactional sequences. Spec: MS-MQQB 3.1.1.5, 3.1.1.6.2, 3.1.5.6, 3.1.5.7, 3.1.6.5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, procedure, skip
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import OrderAckBody, Packet, SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.core.protocol.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import NO_SEQUENCE, OutgoingMessagePosition, OutgoingTransferSequence, Session
from reference_qm.model.message import Message

Original = Callable[..., Any]
ORDER, FINAL = "MQQB-3.1.5.6", "MQQB-3.1.5.7"


def _tolerated(meant: Callable[[UserMessagePacket], bool]) -> Install:
    """Ignore a packet that comes before the session is open."""

    def make(original: Original) -> Original:
        def refuse(qm: QueueManager, session: Session, packet: Packet, *rest: Any) -> None:
            if not (isinstance(packet, UserMessagePacket) and meant(packet)):
                original(qm, session, packet, *rest)

        return refuse

    return procedure(Identifying.refuse_out_of_state, make)


add(
    "early-order-ack-tolerated",
    f"{ORDER}-01",
    "An OrderAck before the session is open is ignored.",
    _tolerated(is_order_ack),
)
add(
    "early-final-ack-tolerated",
    f"{FINAL}-01",
    "A FinalAck before the session is open is ignored.",
    _tolerated(is_final_ack),
)


# -- what an OrderAck does to TxOutgoingSequence -------------------------------------------------------------------

Change = Callable[[OutgoingTransferSequence, OutgoingTransferSequence, OrderAckBody], None]
"""Spoils a sequence; gets it as it is, as it was, and the OrderAck."""


def _noted(change: Change) -> Install:
    def make(original: Original) -> Original:
        def note(qm: QueueManager, session: Session, body: OrderAckBody, *rest: Any) -> None:
            sequence = outgoing_sequence(session)
            before = replace(sequence, UnackedSequence=list(sequence.UnackedSequence))
            original(qm, session, body, *rest)
            change(sequence, before, body)

        return note

    return procedure(OrderAcks.note, make)


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


for _number, _name, _says, _change in (
    ("03", "time-not-noted", "TimeOfLastAck is not set.", _time_kept),
    ("04", "two-intervals-further", "Each OrderAck lengthens the resend interval by two entries.", _two_steps),
    ("05", "intervals-without-end", "ResendIntervalIndex grows beyond the table.", _beyond),
    ("06", "other-interval", "ResendInterval is not the entry at ResendIntervalIndex.", _other_interval),
    ("07", "last-ack-set-back", "An older OrderAck sets LastAck back.", _always_set),
    ("08", "last-ack-not-set", "LastAck is never set.", _never_set),
    ("09", "one-unacknowledged-left", "The message that an OrderAck names stays in UnackedSequence.", _one_stays),
    ("10", "unacknowledged-backwards", "What is left in UnackedSequence is in reverse order.", _backwards),
    ("11", "interval-not-begun-again", "With nothing to resend ResendIntervalIndex is 1.", _not_begun_again),
    ("12", "not-counted", "LastAckCount stays as it was.", _not_counted),
):
    add(f"order-ack-{_name}", f"{ORDER}-{_number}", _says, _noted(_change))


# -- what becomes of the messages ---------------------------------------------------------------------------------


def _forget_it(original: Original) -> Original:
    def delete(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        session.OutgoingMessageTable.remove(position)

    return delete


def _old_sequence(original: Original) -> Original:
    """Give the second message of a later sequence the identifier of the one before."""

    def number(qm: QueueManager, session: Session, message: Message) -> Message:
        numbered: Message = original(qm, session, message)
        identifier = session.OutgoingTxSequenceID
        if identifier.Ordinal == 1 or numbered.TransactionSequenceNumber != 2:
            return numbered
        old = TxSequenceID(identifier.Ordinal - 1, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=old)

    return number


def _one_more(original: Original) -> Original:
    """Begin a later sequence with number 2."""

    def begin(qm: QueueManager, session: Session) -> None:
        before = session.OutgoingTxSequenceID
        original(qm, session)
        if session.OutgoingTxSequenceID != before:
            session.OutgoingTxSequenceNumber = 2

    return begin


def _forget_awaiting(faulty: FaultyCore) -> None:
    for queue in faulty.core.adm.OutgoingQueues.values():
        queue.session.AwaitingFinalACKTable.clear()


def _sent_info(change: Callable[[list[SequenceInfo]], None]) -> Install:
    """Spoil what is noted of a message that is sent."""
    return afterwards(
        TransactionalSending.update_transaction_header,
        lambda qm, session, position, now: change(outgoing_sequence(session).UnackedSequence),
    )


def _other_previous(unacked: list[SequenceInfo]) -> None:
    unacked[-1] = replace(unacked[-1], PrevNo=unacked[-1].SeqNo)


add(
    "ordered-messages-kept",
    (f"{ORDER}-13", "MQQB-3.1.1.6.2-08"),
    "A message that is acknowledged in order is sent again on the next session.",
    skip(OrderAcks.delete_order_acknowledged),
)
add(
    "no-other-sequence",
    (f"{ORDER}-15", "MQQB-3.1.1.5-03"),
    "The sequence goes on when all of it is acknowledged.",
    skip(TransactionalSending.begin_sequence),
)
add(
    "later-sequence-begins-with-2",
    (f"{ORDER}-15", "MQQB-3.1.1.5-03"),
    "A later sequence begins with number 2.",
    procedure(TransactionalSending.begin_sequence, _one_more),
)
add(
    "message-on-the-old-sequence",
    ("MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05"),
    "The second message of a new sequence is sent on the old one.",
    procedure(TransactionalSending.number_in_sequence, _old_sequence),
)
add(
    "not-kept-for-its-final-ack",
    (f"{ORDER}-14", "MQQB-3.1.1.6.2-11"),
    "A message that wants journaling is forgotten with its OrderAck.",
    procedure(TransactionalSending.delete_ordered, _forget_it),
)
add(
    "awaiting-final-acks-forgotten",
    "MQQB-3.1.1.3.1-13",
    "A restart forgets the messages that await their FinalAck.",
    lambda faulty: faulty.on_restart.append(_forget_awaiting),
)
add(
    "sent-message-not-noted",
    "MQQB-3.1.1.5-02",
    "A message that was sent is not in UnackedSequence.",
    _sent_info(lambda unacked: unacked.clear()),
)
add(
    "sent-message-noted-wrong", "MQQB-3.1.1.5-01", "PrevNo of a message is its own number.", _sent_info(_other_previous)
)


# -- OutgoingTransferInfo -----------------------------------------------------------------------------------------


def _told(name: str, value: Any) -> Install:
    def change(qm: QueueManager, session: Session) -> None:
        queue = session.OutgoingQueueReference
        if queue is not None:
            info = queue.OutgoingTransferInfoReference
            told = value(getattr(info, name)) if callable(value) else value
            queue.OutgoingTransferInfoReference = replace(info, **{name: told})

    return afterwards(OrderAcks.note_transfer, change)


add("transfer-info-not-set", f"{ORDER}-16", "OutgoingTransferInfo is never set.", skip(OrderAcks.note_transfer))
for _number, _name, _value in (
    ("17", "EodLastAckTime", 0),
    ("18", "EodLastAckCount", 7),
    ("19", "EodNoAckCount", 7),
    ("20", "EodResendInterval", 7),
    ("21", "EodFirstNonAck", NO_SEQUENCE),
    ("22", "EodLastNonAck", NO_SEQUENCE),
    ("23", "EodLastAck", NO_SEQUENCE),
    ("24", "EodNoReadCount", 0),
    ("25", "EodResendCount", 7),
    ("26", "EodResendTime", 7),
):
    add(f"transfer-info-{_name}", f"{ORDER}-{_number}", f"{_name} is not what it counts.", _told(_name, _value))
