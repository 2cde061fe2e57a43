"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet that depend on the kind, the order or the session of a
message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_3_updating_the_user_message.fault_steps import (
    TEXT_AND_CONDITION_BY_NAME,
    Condition,
    is_message_of_second_outgoing_queue,
    is_message_on_later_session,
    is_recoverable,
    is_transactional,
    was_message_transmitted_before,
)

SessionAndPositionChange = Callable[[Any, Any, Any], None]


def _change_session_after_message_update(when: Condition, change: SessionAndPositionChange) -> Install:
    """Return an installer of a fault that changes the session or the position of a message after the update of a
    selected packet.
    """

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        packet: UserMessagePacket = original(session, position, now)
        if chosen:
            change(self, session, position)
        return packet

    return change_step(MessageSending.update_user_message, run)


def _decrement_unacked_message_count(self: Any, session: Any, position: Any) -> None:
    session.UnAckedMessageCount -= 1


def _clear_session_active(self: Any, session: Any, position: Any) -> None:
    session.SessionActive = False


def _clear_awaiting_ack(self: Any, session: Any, position: Any) -> None:
    position.AwaitingAck = False


def _set_sequence_number_to_recoverable_sent_count(self: Any, session: Any, position: Any) -> None:
    position.SequenceNumber = session.RecoverableMessageSentCount


def _set_sequence_number_to_one(self: Any, session: Any, position: Any) -> None:
    position.SequenceNumber = 1


def _set_tx_sequence_number_to_one(self: Any, session: Any, position: Any) -> None:
    position.TxSequenceNumber = 1


def _omit_count_increment(attribute: str, when: Condition) -> Install:
    """Return an installer of a fault that omits the increment of a counter for selected messages."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        if when(self, session, position):
            setattr(session, attribute, getattr(session, attribute) - 1 & 0xFFFF)
        packet: UserMessagePacket = original(session, position, now)
        return packet

    return change_step(MessageSending.update_user_message, run)


def _omit_session_ack_wait_timer(when: Condition) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        before = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_WAIT, session.number))
        packet: UserMessagePacket = original(session, position, now)
        if chosen and not before:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_WAIT)
        return packet

    return change_step(MessageSending.update_user_message, run)


def _omit_transactional_ack_wait_timer(when: Condition) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        before = self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number))
        packet: UserMessagePacket = original(session, position, now)
        if chosen and not before:
            self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


def _is_later_timer_start(self: Any, session: Any, position: Any) -> bool:
    started = self.__dict__.setdefault("started", set())
    known = session.number in started
    started.add(session.number)
    return known and not self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number))


def _change_transaction_header(when: Condition, field: str, value: Callable[[Any, Any], Any]) -> Install:
    """Return an installer of a fault that changes a field of the TransactionHeader of selected messages."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        packet: UserMessagePacket = original(session, position, now)
        if chosen and packet.TransactionHeader is not None:
            header = replace(packet.TransactionHeader, **{field: value(packet.TransactionHeader, session)})
            packet = replace(packet, TransactionHeader=header)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


def _is_third_or_later_message_of_sequence(self: Any, session: Any, position: Any) -> bool:
    return bool(position.TxSequenceNumber >= 3)


def _share_tx_sequence_numbers_among_sessions(self: Any, original: Any, session: Any, message: Any) -> Any:
    numbers = self.__dict__.setdefault("numbers", [1])
    session.OutgoingTxSequenceNumber = max(numbers[0], session.OutgoingTxSequenceNumber)
    numbered = original(session, message)
    numbers[0] = session.OutgoingTxSequenceNumber
    return numbered


def _share_tx_sequence_number_within_transaction(self: Any, original: Any, session: Any, message: Any) -> Any:
    last = self.__dict__.setdefault("last", {})
    same = last.get(session.number) == message.TransactionIdentifier
    last[session.number] = message.TransactionIdentifier
    if same:
        session.OutgoingTxSequenceNumber -= 1
    return original(session, message)


def _add_second_unacked_entry_of_resent_message(self: Any, original: Any, session: Any, position: Any, now: Any) -> Any:
    again = position.Transmitted
    packet = original(session, position, now)
    unacked = session.TxOutgoingSequence.UnackedSequence
    if again:
        unacked.extend([one for one in unacked if one.SeqNo == position.TxSequenceNumber][:1])
    return packet


def _keep_only_last_two_unacked_sequence_entries(
    self: Any, original: Any, session: Any, position: Any, now: Any
) -> Any:
    packet = original(session, position, now)
    del session.TxOutgoingSequence.UnackedSequence[:-2]
    return packet


def _change_sequence_info(**values: Callable[[Any, Any], int]) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> Any:
        packet = original(session, position, now)
        unacked = session.TxOutgoingSequence.UnackedSequence
        if len(unacked) > 1:
            new = {name: value(unacked, self) for name, value in values.items()}
            unacked[-1] = replace(unacked[-1], **new)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


def _restrict_condition_to_recoverable(when: Condition) -> Condition:
    return lambda self, session, position: bool(position.recoverable) and when(self, session, position)


_MESSAGE_COUNTER_FAULTS = (
    ("MessageSentCount", "MQQB-3.1.7.1.3-11", ("resent-message", "own-message", "urgent-message", "large-message")),
    (
        "RecoverableMessageSentCount",
        "MQQB-3.1.7.1.3-13",
        ("transactional-message", "resent-message", "message-on-later-connection", "large-message"),
    ),
)
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"sender-{attribute.lower()}-of-{kind}-not-incremented",
            rule,
            f"The sender does not increment {attribute} for {TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _omit_count_increment(
                attribute,
                TEXT_AND_CONDITION_BY_NAME[kind][1]
                if rule == "MQQB-3.1.7.1.3-11"
                else _restrict_condition_to_recoverable(TEXT_AND_CONDITION_BY_NAME[kind][1]),
            ),
        )
        for attribute, rule, kinds in _MESSAGE_COUNTER_FAULTS
        for kind in kinds
    ),
    *(
        (
            f"sender-window-does-not-count-{kind}",
            "MQQB-3.1.7.1.3-14",
            f"The sender does not increment UnAckedMessageCount for {TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _change_session_after_message_update(TEXT_AND_CONDITION_BY_NAME[kind][1], _decrement_unacked_message_count),
        )
        for kind in (
            "express-message",
            "transactional-message",
            "own-message",
            "message-on-later-connection",
            "message-of-second-queue",
        )
    ),
    *(
        (
            f"sender-session-active-unchanged-by-{kind}",
            "MQQB-3.1.7.1.3-28",
            f"The sender does not set SessionActive to TRUE when it sends {TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _change_session_after_message_update(TEXT_AND_CONDITION_BY_NAME[kind][1], _clear_session_active),
        )
        for kind in ("express-message", "transactional-message", "own-message", "message-of-second-queue")
    ),
    *(
        (
            f"sender-awaiting-ack-of-{kind}-false",
            "MQQB-3.1.7.1.3-26",
            f"The sender sets AwaitingAck to FALSE for {TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _change_session_after_message_update(TEXT_AND_CONDITION_BY_NAME[kind][1], _clear_awaiting_ack),
        )
        for kind in ("transactional-message", "message-of-second-queue", "own-message")
    ),
    *(
        (
            f"sender-ack-wait-timer-not-started-by-{kind}",
            "MQQB-3.1.7.1.3-27",
            "The sender does not start the Session Ack Wait Timer when it sends "
            f"{TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _omit_session_ack_wait_timer(TEXT_AND_CONDITION_BY_NAME[kind][1]),
        )
        for kind in (
            "express-message",
            "recoverable-message",
            "transactional-message",
            "own-message",
            "message-on-later-connection",
            "message-of-second-queue",
        )
    ),
    (
        "sender-sequence-number-of-recoverable-position-counts-recoverable-messages",
        "MQQB-3.1.7.1.3-12",
        "The sender sets SequenceNumber of a recoverable message to RecoverableMessageSentCount.",
        _change_session_after_message_update(is_recoverable, _set_sequence_number_to_recoverable_sent_count),
    ),
    (
        "sender-sequence-number-of-resent-position-1",
        "MQQB-3.1.7.1.3-12",
        "The sender sets SequenceNumber of a message that it sends again to 1.",
        _change_session_after_message_update(was_message_transmitted_before, _set_sequence_number_to_one),
    ),
    (
        "sender-tx-sequence-number-of-position-of-second-queue-1",
        "MQQB-3.1.7.1.3-05",
        "The sender sets TxSequenceNumber of each position of the second outgoing queue to 1.",
        _change_session_after_message_update(
            lambda self, session, position: (
                is_message_of_second_outgoing_queue(self, session, position)
                and is_transactional(self, session, position)
            ),
            _set_tx_sequence_number_to_one,
        ),
    ),
    (
        "sender-transactional-timer-not-started-for-second-sequence",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only for the first sequence of a session.",
        _omit_transactional_ack_wait_timer(_is_later_timer_start),
    ),
    (
        "sender-transactional-timer-not-started-for-second-queue",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only for the first outgoing queue.",
        _omit_transactional_ack_wait_timer(is_message_of_second_outgoing_queue),
    ),
    (
        "sender-transactional-timer-not-started-on-later-connection",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only on its first connection.",
        _omit_transactional_ack_wait_timer(is_message_on_later_session),
    ),
    (
        "sender-number-of-resent-message-after-later-messages",
        "MQQB-3.1.7.1.3-01",
        "The sender sets TxSequenceNumber of a message that it sends again to OutgoingTxSequenceNumber.",
        _change_transaction_header(
            was_message_transmitted_before, "TxSequenceNumber", lambda header, session: session.OutgoingTxSequenceNumber
        ),
    ),
    (
        "sender-number-of-message-on-later-connection-after-later-messages",
        "MQQB-3.1.7.1.3-01",
        "The sender increments TxSequenceNumber of a message that it sends on a later connection.",
        _change_transaction_header(
            is_message_on_later_session, "TxSequenceNumber", lambda header, session: header.TxSequenceNumber + 1
        ),
    ),
    (
        "sender-sequence-id-of-resent-message-next",
        "MQQB-3.1.7.1.3-02",
        "The sender increments the Ordinal in TxSequenceID of a message that it sends again.",
        _change_transaction_header(
            was_message_transmitted_before,
            "TxSequenceID",
            lambda header, session: replace(header.TxSequenceID, Ordinal=header.TxSequenceID.Ordinal + 1),
        ),
    ),
    (
        "sender-sequence-id-of-third-message-next",
        "MQQB-3.1.7.1.3-02",
        "The sender increments the Ordinal in TxSequenceID of the third and of each later message of a sequence.",
        _change_transaction_header(
            _is_third_or_later_message_of_sequence,
            "TxSequenceID",
            lambda header, session: replace(header.TxSequenceID, Ordinal=header.TxSequenceID.Ordinal + 1),
        ),
    ),
    (
        "sender-previous-number-of-later-messages-first",
        "MQQB-3.1.7.1.3-03",
        "The sender sets PreviousTxSequenceNumber of the third and of each later message of a sequence to 1.",
        _change_transaction_header(
            _is_third_or_later_message_of_sequence, "PreviousTxSequenceNumber", lambda header, session: 1
        ),
    ),
    (
        "sender-previous-number-of-second-queue-one-too-high",
        "MQQB-3.1.7.1.3-03",
        "The sender sets PreviousTxSequenceNumber of each message of the second queue to its own TxSequenceNumber.",
        _change_transaction_header(
            is_message_of_second_outgoing_queue,
            "PreviousTxSequenceNumber",
            lambda header, session: header.TxSequenceNumber,
        ),
    ),
    (
        "sender-previous-number-of-second-resent-message-0",
        "MQQB-3.1.7.1.3-10",
        "The sender sets PreviousTxSequenceNumber of each message that it sends again to 0.",
        _change_transaction_header(
            was_message_transmitted_before, "PreviousTxSequenceNumber", lambda header, session: 0
        ),
    ),
    (
        "sender-previous-number-on-later-connection-0",
        "MQQB-3.1.7.1.3-10",
        "The sender sets PreviousTxSequenceNumber of each message on a later connection to 0.",
        _change_transaction_header(is_message_on_later_session, "PreviousTxSequenceNumber", lambda header, session: 0),
    ),
    (
        "sender-queues-share-transactional-numbers",
        ("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1.3-08"),
        "The sender numbers the transactional messages of all outgoing queues with one counter.",
        change_step(TransactionalSending.number_message_in_sequence, _share_tx_sequence_numbers_among_sessions),
    ),
    (
        "sender-transactional-number-per-transaction",
        ("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1.3-08"),
        "The sender gives all messages of a transaction the same TxSequenceNumber.",
        change_step(TransactionalSending.number_message_in_sequence, _share_tx_sequence_number_within_transaction),
    ),
    (
        "sender-unacked-sequence-lists-resent-message-twice",
        "MQQB-3.1.7.1.3-06",
        "The sender adds a message that it sends again to UnackedSequence a second time.",
        change_step(TransactionalSending.update_transaction_header, _add_second_unacked_entry_of_resent_message),
    ),
    (
        "sender-unacked-sequence-lists-two-messages",
        "MQQB-3.1.7.1.3-06",
        "The sender keeps only the last two messages in UnackedSequence.",
        change_step(TransactionalSending.update_transaction_header, _keep_only_last_two_unacked_sequence_entries),
    ),
    (
        "sender-sequence-info-of-second-message-without-previous-number",
        "MQQB-3.1.7.1.3-07",
        "The sender sets PrevNo in the SEQUENCE_INFO of the second and of each later message to 0.",
        _change_sequence_info(PrevNo=lambda unacked, self: 0),
    ),
    (
        "sender-sequence-info-of-second-message-without-sequence",
        "MQQB-3.1.7.1.3-07",
        "The sender sets SeqID in the SEQUENCE_INFO of the second and of each later message to 0.",
        _change_sequence_info(SeqID=lambda unacked, self: 0),
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("sender-transactional-ack-wait-timer-started-once-per-session", breaks="MQQB-3.1.7.1.3-09", blind=True)
class SenderTransactionalAckWaitTimerStartedOncePerSession(TransactionalSending):
    """The sender does not start the Transactional Ack Wait Timer for a transactional message that it sends after all
    earlier messages of the session have their OrderAcks.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.started: set[tuple[int, str | None]] = set()

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        key = TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number)
        ran = self.qm.timers.is_running(key)
        packet = super().update_transaction_header(session, position, now)
        connection = (session.number, session.transport)
        if not ran and self.qm.timers.is_running(key):
            if connection in self.started:
                self.qm.timers.stop(key)
            self.started.add(connection)
        return packet
