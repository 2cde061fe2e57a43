"""Faults of what a message is given when it is sent, and sent again. Spec: MS-MQQB 3.1.2.6, 3.1.6.5, 3.1.7.1.3."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, always, during, procedure, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo, TxSequenceID, UserMessagePacket
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.message import Message
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
RULE, STATE, BOTH = "MQQB-3.1.7.1.3", "MQQB-3.1.1.3.1", "MQQB-3.1.1.6.2"


# -- the place in the sequence ------------------------------------------------------------------------------------


def _numbered(change: Callable[[Session, Message], Message]) -> Install:
    """Change the place that a message is given when it is accepted."""

    def make(original: Original) -> Original:
        return lambda qm, session, message: change(session, original(qm, session, message))

    return procedure(TransactionalSending.number_in_sequence, make)


def _own_sequence(session: Session, message: Message) -> Message:
    identifier = session.OutgoingTxSequenceID
    other = TxSequenceID(identifier.Ordinal + message.TransactionSequenceNumber - 1, identifier.TimeStamp)
    return replace(message, TransactionalMessageSequenceIdentifier=other)


def _from_two(session: Session, message: Message) -> Message:
    return replace(message, TransactionSequenceNumber=message.TransactionSequenceNumber + 1)


def _in_twos(session: Session, message: Message) -> Message:
    session.OutgoingTxSequenceNumber += 1
    return message


def _numbered_again(qm: QueueManager, session: Session, now: Now) -> None:
    """Give what is sent on a new session new numbers."""
    for position in session.OutgoingMessageTable:
        header = position.UserMessage.TransactionHeader
        if header is not None:
            number = session.OutgoingTxSequenceNumber
            session.OutgoingTxSequenceNumber += 1
            position.TxSequenceNumber = number
            position.UserMessage = replace(
                position.UserMessage, TransactionHeader=replace(header, TxSequenceNumber=number)
            )


def _previous(of: Callable[[OutgoingMessagePosition, int], int]) -> Install:
    """Change PreviousTxSequenceNumber of what is sent."""

    def make(original: Original) -> Original:
        def update(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> Any:
            packet: UserMessagePacket = original(qm, session, position, now)
            header = packet.TransactionHeader
            if header is None:
                return packet
            number = of(position, header.PreviousTxSequenceNumber)
            return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=number))

        return update

    return procedure(TransactionalSending.update_transaction_header, make)


def _sent_info(change: Callable[[list[SequenceInfo]], None]) -> Install:
    return afterwards(
        TransactionalSending.update_transaction_header,
        lambda qm, session, position, now: change(outgoing_sequence(session).UnackedSequence),
    )


def _no_previous(unacked: list[SequenceInfo]) -> None:
    unacked[-1] = replace(unacked[-1], PrevNo=0)


def _no_tx_number(qm: QueueManager, session: Session, position: OutgoingMessagePosition, packet: Any) -> None:
    position.TxSequenceNumber = 0


for _name, _rules, _says, _install in (
    (
        "numbered-again",
        ("01",),
        "Each session numbers its messages anew.",
        afterwards(Initialization.initialize_session, _numbered_again),
    ),
    ("sequence-of-its-own", ("02",), "Each message has a TxSequenceID of its own.", _numbered(_own_sequence)),
    (
        "previous-itself",
        ("03",),
        "A message names itself as the one before.",
        _previous(lambda position, _: position.TxSequenceNumber),
    ),
    ("from-two", ("04",), "Numbers begin with 2.", _numbered(_from_two)),
    ("in-twos", ("08",), "Every other number is left out.", _numbered(_in_twos)),
    (
        "position-without-number",
        ("05",),
        "The position of a message has TxSequenceNumber 0.",
        afterwards(Sending.transmit, _no_tx_number),
    ),
    (
        "sent-not-noted",
        ("06",),
        "A message that was sent is not in UnackedSequence.",
        _sent_info(lambda unacked: unacked.clear()),
    ),
    ("noted-without-previous", ("07",), "PrevNo is 0 in every SEQUENCE_INFO.", _sent_info(_no_previous)),
    (
        "previous-of-first-sending",
        ("10",),
        "A message that is sent again names the one that was before it at first.",
        _previous(lambda position, _: position.TxSequenceNumber - 1),
    ),
):
    add(f"update-{_name}", [f"{RULE}-{_each}" for _each in _rules], _says, _install)


# -- counts, and the SessionHeader --------------------------------------------------------------------------------


def _updated(change: Callable[[QueueManager, Session, OutgoingMessagePosition], None]) -> Install:
    return afterwards(Sending.update_user_message, lambda qm, session, position, now: change(qm, session, position))


def _counted_twice(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    session.MessageSentCount += 1


def _all_recoverable(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    if not position.recoverable:
        session.RecoverableMessageSentCount += 1


def _other_number(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    position.SequenceNumber = 0


def _not_waiting(qm: QueueManager) -> None:
    """Clear AwaitingAck of all that was sent, without sending it again."""
    for session in qm.sessions.values():
        session.OutgoingMessageTable.next_unsent()
        for position in session.OutgoingMessageTable:
            position.AwaitingAck = False


def _not_unacknowledged(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    session.UnAckedMessageCount = max(0, session.UnAckedMessageCount - 1)


def _inactive(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    session.SessionActive = False


def _carried(**changes: Any) -> Install:
    return wrong_fields(
        UserMessagePacket,
        {f"SessionHeader.{name}": change for name, change in changes.items()},
        lambda packet: packet.SessionHeader is not None,
    )


def _carrying(change: Callable[[QueueManager, Session, Session, Now], None]) -> Install:
    """Spoil what a message that carries a SessionHeader changes; ``change`` gets the session as it was, too."""

    def make(original: Original, *_: Any) -> Original:
        def note(qm: QueueManager, session: Session, now: Now) -> None:
            before = copy(session)
            original(qm, session, now)
            change(qm, session, before, now)

        return note

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make)


def _count_kept(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.UnackedReceivedMsgCount = before.UnackedReceivedMsgCount
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


def _flags_kept(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.RecoverableMsgAckFlags = before.RecoverableMsgAckFlags


def _one_too_far(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber += 1


def _plus(old: int) -> int:
    return old + 1


for _name, _both, _says, _install in (
    ("counted-twice", ("11", "18"), "MessageSentCount grows by two.", _updated(_counted_twice)),
    (
        "all-recoverable",
        ("13", "19"),
        "Express messages are counted as recoverable ones too.",
        _updated(_all_recoverable),
    ),
    ("position-without-place", ("12",), "SequenceNumber of a position is 0.", _updated(_other_number)),
    ("not-awaiting", ("26",), "AwaitingAck stays clear.", always(_not_waiting)),
    ("not-unacknowledged", ("14",), "UnAckedMessageCount stays 0.", _updated(_not_unacknowledged)),
    ("inactive", ("28",), "Sending a message leaves its session inactive.", _updated(_inactive)),
    ("ack-wait-not-started", ("27",), "The Session Ack Wait Timer is not started.", skip(SessionAcks.start_wait_timer)),
    (
        "carried-count",
        ("15", "16"),
        "AckSequenceNumber of a SessionHeader in a message is one more.",
        _carried(AckSequenceNumber=_plus),
    ),
    (
        "carried-recoverable-number",
        ("15", "17"),
        "RecoverableMsgAckSeqNumber of a SessionHeader in a message is one more.",
        _carried(RecoverableMsgAckSeqNumber=_plus),
    ),
    (
        "carried-flags",
        ("15", "20"),
        "A SessionHeader in a message flags one message more.",
        _carried(RecoverableMsgAckFlags=lambda old: old << 1 | 1),
    ),
    (
        "carried-window",
        ("15", "22"),
        "A SessionHeader in a message has another WindowSize.",
        _carried(WindowSize=_plus),
    ),
    (
        "carried-count-kept",
        ("23", "24"),
        "UnackedReceivedMsgCount keeps its value when a message carries the SessionHeader.",
        _carrying(_count_kept),
    ),
    (
        "carried-flags-kept",
        ("21",),
        "RecoverableMsgAckFlags keeps its value when a message carries the SessionHeader.",
        _carrying(_flags_kept),
    ),
    (
        "carried-number-too-high",
        ("25",),
        "LastAckedRecoverableMsgSeqNumber is one too high once a message carried a SessionHeader.",
        _carrying(_one_too_far),
    ),
):
    add(f"update-{_name}", [f"{RULE}-{_each}" for _each in _both], _says, _install)


# -- sending again ------------------------------------------------------------------------------------------------


def _first_only(original: Original) -> Original:
    """Send only the first of the messages again that wait for their OrderAck."""

    def expire(qm: QueueManager, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in waiting[1:]:
            position.ReceivedOrderAck = True
        original(qm, session, now)

    return expire


add(
    "resend-nothing",
    ("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02", f"{BOTH}-10"),
    "Nothing is sent again when the Transactional Ack Wait Timer expires.",
    skip(TransactionalSending.on_ack_wait_timer),
)
add(
    "resend-first-only",
    "MQQB-3.1.6.5-01",
    "Only the first message is sent again.",
    procedure(TransactionalSending.on_ack_wait_timer, _first_only),
)
add(
    "resend-timer-not-started",
    f"{RULE}-09",
    "The Transactional Ack Wait Timer is not started.",
    skip(TransactionalSending.start_ack_wait_timer),
)
