"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet that depend on the kind, the order or the session of a
message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.timers import TimerKey, TimerName

Condition = Callable[[Any, Any, Any], bool]
"""The type of conditions: a function of the part, the session and the OutgoingMessagePosition."""
Effect = Callable[[Any, Any, Any], None]


def _is_express(self: Any, session: Any, position: Any) -> bool:
    return not position.recoverable


def _is_recoverable(self: Any, session: Any, position: Any) -> bool:
    return bool(position.recoverable) and not position.TxSequenceNumber


def _is_transactional(self: Any, session: Any, position: Any) -> bool:
    return bool(position.TxSequenceNumber)


def _is_own(self: Any, session: Any, position: Any) -> bool:
    return bool(position.UserMessage.MessagePropertiesHeader.MessageClass)


def _is_urgent(self: Any, session: Any, position: Any) -> bool:
    return bool(position.UserMessage.BaseHeader.PR > 3)


def _is_sent_again(self: Any, session: Any, position: Any) -> bool:
    return bool(position.Transmitted)


def _is_on_later_session(self: Any, session: Any, position: Any) -> bool:
    earlier = self.__dict__.setdefault("sessions", {})
    first = earlier.setdefault("first", session.transport)
    return bool(first != session.transport)


def _is_on_second_queue(self: Any, session: Any, position: Any) -> bool:
    first = self.__dict__.setdefault("first_queue", session.number)
    return bool(first != session.number)


def _has_large_body(self: Any, session: Any, position: Any) -> bool:
    return len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4096


_KINDS: tuple[tuple[str, str, Condition], ...] = (
    ("express-message", "an express message", _is_express),
    ("recoverable-message", "a recoverable message", _is_recoverable),
    ("transactional-message", "a transactional message", _is_transactional),
    ("own-message", "a message that it created itself", _is_own),
    ("urgent-message", "a message with a priority above 3", _is_urgent),
    ("resent-message", "a message that it sends again on the same session", _is_sent_again),
    ("message-on-later-connection", "a message on a later connection", _is_on_later_session),
    ("message-of-second-queue", "a message of the second outgoing queue", _is_on_second_queue),
    ("large-message", "a message with a body of more than 4 KB", _has_large_body),
)


def _change_update(when: Condition, change: Effect) -> Install:
    """Return an installer of a fault that changes the session or the position after the update of some packets."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        packet: UserMessagePacket = original(session, position, now)
        if chosen:
            change(self, session, position)
        return packet

    return change_step(Sending.update_user_message, run)


def _correct_count(self: Any, session: Any, position: Any) -> None:
    session.UnAckedMessageCount -= 1


def _clear_activity(self: Any, session: Any, position: Any) -> None:
    session.SessionActive = False


def _clear_awaiting(self: Any, session: Any, position: Any) -> None:
    position.AwaitingAck = False


def _number_like_recoverable(self: Any, session: Any, position: Any) -> None:
    position.SequenceNumber = session.RecoverableMessageSentCount


def _number_as_first(self: Any, session: Any, position: Any) -> None:
    position.SequenceNumber = 1


def _forget_number(self: Any, session: Any, position: Any) -> None:
    position.TxSequenceNumber = 1


def _miscount(attribute: str, when: Condition) -> Install:
    """Return an installer of a fault that omits the increment of a counter for some messages."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        if when(self, session, position):
            setattr(session, attribute, getattr(session, attribute) - 1 & 0xFFFF)
        packet: UserMessagePacket = original(session, position, now)
        return packet

    return change_step(Sending.update_user_message, run)


def _omit_wait_timer(when: Condition) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        before = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_WAIT, session.number))
        packet: UserMessagePacket = original(session, position, now)
        if chosen and not before:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_WAIT)
        return packet

    return change_step(Sending.update_user_message, run)


def _omit_transactional_timer(when: Condition) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        before = self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number))
        packet: UserMessagePacket = original(session, position, now)
        if chosen and not before:
            self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


def _is_second_start(self: Any, session: Any, position: Any) -> bool:
    started = self.__dict__.setdefault("started", set())
    known = session.number in started
    started.add(session.number)
    return known and not self.qm.timers.is_running(TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number))


def _change_transaction_header(when: Condition, field: str, value: Callable[[Any, Any], Any]) -> Install:
    """Return an installer of a fault that changes a field of the TransactionHeader of some messages."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        chosen = when(self, session, position)
        packet: UserMessagePacket = original(session, position, now)
        if chosen and packet.TransactionHeader is not None:
            header = replace(packet.TransactionHeader, **{field: value(packet.TransactionHeader, session)})
            packet = replace(packet, TransactionHeader=header)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


def _is_third_or_later(self: Any, session: Any, position: Any) -> bool:
    return bool(position.TxSequenceNumber >= 3)


def _share_numbers(self: Any, original: Any, session: Any, message: Any) -> Any:
    numbers = self.__dict__.setdefault("numbers", [1])
    session.OutgoingTxSequenceNumber = max(numbers[0], session.OutgoingTxSequenceNumber)
    numbered = original(session, message)
    numbers[0] = session.OutgoingTxSequenceNumber
    return numbered


def _number_transactions(self: Any, original: Any, session: Any, message: Any) -> Any:
    last = self.__dict__.setdefault("last", {})
    same = last.get(session.number) == message.TransactionIdentifier
    last[session.number] = message.TransactionIdentifier
    if same:
        session.OutgoingTxSequenceNumber -= 1
    return original(session, message)


def _list_twice(self: Any, original: Any, session: Any, position: Any, now: Any) -> Any:
    again = position.Transmitted
    packet = original(session, position, now)
    unacked = session.TxOutgoingSequence.UnackedSequence
    if again:
        unacked.extend([one for one in unacked if one.SeqNo == position.TxSequenceNumber][:1])
    return packet


def _list_two(self: Any, original: Any, session: Any, position: Any, now: Any) -> Any:
    packet = original(session, position, now)
    del session.TxOutgoingSequence.UnackedSequence[:-2]
    return packet


def _change_info(**values: Callable[[Any, Any], int]) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> Any:
        packet = original(session, position, now)
        unacked = session.TxOutgoingSequence.UnackedSequence
        if len(unacked) > 1:
            new = {name: value(unacked, self) for name, value in values.items()}
            unacked[-1] = replace(unacked[-1], **new)
        return packet

    return change_step(TransactionalSending.update_transaction_header, run)


HeaderCondition = Callable[[Any, Any, Any, int], bool]


def _change_header(when: HeaderCondition, field: str, value: Callable[[Any, Any], int]) -> Install:
    """Return an installer of a fault that changes a field of the SessionHeader of some messages.

    The value is computed from the previous SessionHeader of the session, or None, and the session.
    """

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        known = self.__dict__.setdefault("headers", {})
        earlier = known.setdefault(session.transport, [])
        chosen = when(self, session, position, len(earlier))
        packet: UserMessagePacket = original(session, position, now)
        if packet.SessionHeader is None:
            return packet
        if chosen:
            header: SessionHeader = replace(
                packet.SessionHeader, **{field: value(earlier[-1] if earlier else packet.SessionHeader, session)}
            )
            packet = replace(packet, SessionHeader=header)
        earlier.append(packet.SessionHeader)
        return packet

    return change_step(Sending.update_user_message, run)


def _is_second_header(self: Any, session: Any, position: Any, earlier: int) -> bool:
    return earlier > 0


def _ignore_count(condition: Condition) -> HeaderCondition:
    return lambda self, session, position, earlier: condition(self, session, position)


def _repeat_field(field: str) -> Callable[[Any, Any], int]:
    return lambda earlier, session: int(getattr(earlier, field))


def _restrict_to_recoverable(when: Condition) -> Condition:
    return lambda self, session, position: bool(position.recoverable) and when(self, session, position)


def _keep_after_header(attribute: str, when: HeaderCondition) -> Install:
    """Return an installer of a fault that keeps the value of a counter when some messages acknowledge."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> UserMessagePacket:
        known = self.__dict__.setdefault("counted", {})
        before = getattr(session, attribute)
        packet: UserMessagePacket = original(session, position, now)
        if packet.SessionHeader is not None:
            earlier = known.get(session.transport, 0)
            known[session.transport] = earlier + 1
            if when(self, session, position, earlier):
                setattr(session, attribute, before)
                if attribute == "UnackedReceivedMsgCount":
                    duration = session.RecoverableAckSendTimeout
                    self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, duration, now)
        return packet

    return change_step(Sending.update_user_message, run)


def _only_bit_0(self: Any, original: Any, session: Any) -> SessionHeader:
    header: SessionHeader = original(session)
    return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)


_COUNTERS = (
    ("MessageSentCount", "11", ("resent-message", "own-message", "urgent-message", "large-message")),
    (
        "RecoverableMessageSentCount",
        "13",
        ("transactional-message", "resent-message", "message-on-later-connection", "large-message"),
    ),
)
_BY_NAME = {name: (words, when) for name, words, when in _KINDS}
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"sender-{attribute.lower()}-of-{kind}-not-incremented",
            f"MQQB-3.1.7.1.3-{rule}",
            f"The sender does not increment {attribute} for {_BY_NAME[kind][0]}.",
            _miscount(
                attribute,
                _BY_NAME[kind][1] if rule == "11" else _restrict_to_recoverable(_BY_NAME[kind][1]),
            ),
        )
        for attribute, rule, kinds in _COUNTERS
        for kind in kinds
    ),
    *(
        (
            f"sender-window-does-not-count-{kind}",
            "MQQB-3.1.7.1.3-14",
            f"The sender does not increment UnAckedMessageCount for {_BY_NAME[kind][0]}.",
            _change_update(_BY_NAME[kind][1], _correct_count),
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
            f"The sender does not set SessionActive to TRUE when it sends {_BY_NAME[kind][0]}.",
            _change_update(_BY_NAME[kind][1], _clear_activity),
        )
        for kind in ("express-message", "transactional-message", "own-message", "message-of-second-queue")
    ),
    *(
        (
            f"sender-awaiting-ack-of-{kind}-false",
            "MQQB-3.1.7.1.3-26",
            f"The sender sets AwaitingAck to FALSE for {_BY_NAME[kind][0]}.",
            _change_update(_BY_NAME[kind][1], _clear_awaiting),
        )
        for kind in ("transactional-message", "message-of-second-queue", "own-message")
    ),
    *(
        (
            f"sender-ack-wait-timer-not-started-by-{kind}",
            "MQQB-3.1.7.1.3-27",
            f"The sender does not start the Session Ack Wait Timer when it sends {_BY_NAME[kind][0]}.",
            _omit_wait_timer(_BY_NAME[kind][1]),
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
        _change_update(_is_recoverable, _number_like_recoverable),
    ),
    (
        "sender-sequence-number-of-resent-position-1",
        "MQQB-3.1.7.1.3-12",
        "The sender sets SequenceNumber of a message that it sends again to 1.",
        _change_update(_is_sent_again, _number_as_first),
    ),
    (
        "sender-tx-sequence-number-of-position-of-second-queue-1",
        "MQQB-3.1.7.1.3-05",
        "The sender sets TxSequenceNumber of each position of the second outgoing queue to 1.",
        _change_update(
            lambda self, session, position: (
                _is_on_second_queue(self, session, position) and _is_transactional(self, session, position)
            ),
            _forget_number,
        ),
    ),
    (
        "sender-transactional-timer-not-started-for-second-sequence",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only for the first sequence of a session.",
        _omit_transactional_timer(_is_second_start),
    ),
    (
        "sender-transactional-timer-not-started-for-second-queue",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only for the first outgoing queue.",
        _omit_transactional_timer(_is_on_second_queue),
    ),
    (
        "sender-transactional-timer-not-started-on-later-connection",
        "MQQB-3.1.7.1.3-09",
        "The sender starts the Transactional Ack Wait Timer only on its first connection.",
        _omit_transactional_timer(_is_on_later_session),
    ),
    (
        "sender-number-of-resent-message-after-later-messages",
        "MQQB-3.1.7.1.3-01",
        "The sender sets TxSequenceNumber of a message that it sends again to OutgoingTxSequenceNumber.",
        _change_transaction_header(
            _is_sent_again, "TxSequenceNumber", lambda header, session: session.OutgoingTxSequenceNumber
        ),
    ),
    (
        "sender-number-of-message-on-later-connection-after-later-messages",
        "MQQB-3.1.7.1.3-01",
        "The sender increments TxSequenceNumber of a message that it sends on a later connection.",
        _change_transaction_header(
            _is_on_later_session, "TxSequenceNumber", lambda header, session: header.TxSequenceNumber + 1
        ),
    ),
    (
        "sender-sequence-id-of-resent-message-next",
        "MQQB-3.1.7.1.3-02",
        "The sender increments the Ordinal in TxSequenceID of a message that it sends again.",
        _change_transaction_header(
            _is_sent_again,
            "TxSequenceID",
            lambda header, session: replace(header.TxSequenceID, Ordinal=header.TxSequenceID.Ordinal + 1),
        ),
    ),
    (
        "sender-sequence-id-of-third-message-next",
        "MQQB-3.1.7.1.3-02",
        "The sender increments the Ordinal in TxSequenceID of the third and of each later message of a sequence.",
        _change_transaction_header(
            _is_third_or_later,
            "TxSequenceID",
            lambda header, session: replace(header.TxSequenceID, Ordinal=header.TxSequenceID.Ordinal + 1),
        ),
    ),
    (
        "sender-previous-number-of-later-messages-first",
        "MQQB-3.1.7.1.3-03",
        "The sender sets PreviousTxSequenceNumber of the third and of each later message of a sequence to 1.",
        _change_transaction_header(_is_third_or_later, "PreviousTxSequenceNumber", lambda header, session: 1),
    ),
    (
        "sender-previous-number-of-second-queue-one-too-high",
        "MQQB-3.1.7.1.3-03",
        "The sender sets PreviousTxSequenceNumber of each message of the second queue to its own TxSequenceNumber.",
        _change_transaction_header(
            _is_on_second_queue, "PreviousTxSequenceNumber", lambda header, session: header.TxSequenceNumber
        ),
    ),
    (
        "sender-previous-number-of-second-resent-message-0",
        "MQQB-3.1.7.1.3-10",
        "The sender sets PreviousTxSequenceNumber of each message that it sends again to 0.",
        _change_transaction_header(_is_sent_again, "PreviousTxSequenceNumber", lambda header, session: 0),
    ),
    (
        "sender-previous-number-on-later-connection-0",
        "MQQB-3.1.7.1.3-10",
        "The sender sets PreviousTxSequenceNumber of each message on a later connection to 0.",
        _change_transaction_header(_is_on_later_session, "PreviousTxSequenceNumber", lambda header, session: 0),
    ),
    (
        "sender-queues-share-transactional-numbers",
        ("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1.3-08"),
        "The sender numbers the transactional messages of all outgoing queues with one counter.",
        change_step(TransactionalSending.number_in_sequence, _share_numbers),
    ),
    (
        "sender-transactional-number-per-transaction",
        ("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1.3-08"),
        "The sender gives all messages of a transaction the same TxSequenceNumber.",
        change_step(TransactionalSending.number_in_sequence, _number_transactions),
    ),
    (
        "sender-unacked-sequence-lists-resent-message-twice",
        "MQQB-3.1.7.1.3-06",
        "The sender adds a message that it sends again to UnackedSequence a second time.",
        change_step(TransactionalSending.update_transaction_header, _list_twice),
    ),
    (
        "sender-unacked-sequence-lists-two-messages",
        "MQQB-3.1.7.1.3-06",
        "The sender keeps only the last two messages in UnackedSequence.",
        change_step(TransactionalSending.update_transaction_header, _list_two),
    ),
    (
        "sender-sequence-info-of-second-message-without-previous-number",
        "MQQB-3.1.7.1.3-07",
        "The sender sets PrevNo in the SEQUENCE_INFO of the second and of each later message to 0.",
        _change_info(PrevNo=lambda unacked, self: 0),
    ),
    (
        "sender-sequence-info-of-second-message-without-sequence",
        "MQQB-3.1.7.1.3-07",
        "The sender sets SeqID in the SEQUENCE_INFO of the second and of each later message to 0.",
        _change_info(SeqID=lambda unacked, self: 0),
    ),
    *(
        (
            f"sender-second-session-header-repeats-{label}",
            f"MQQB-3.1.7.1.3-{rule}",
            f"The sender repeats {field} of the previous SessionHeader in the second SessionHeader of a session.",
            _change_header(_is_second_header, field, _repeat_field(field)),
        )
        for label, field, rule in (
            ("ack-number", "AckSequenceNumber", "16"),
            ("recoverable-ack-number", "RecoverableMsgAckSeqNumber", "17"),
            ("message-number", "UserMsgSequenceNumber", "18"),
            ("recoverable-number", "RecoverableMsgSeqNumber", "19"),
            ("flags", "RecoverableMsgAckFlags", "20"),
        )
    ),
    *(
        (
            f"sender-session-header-of-{kind}-without-{label}",
            f"MQQB-3.1.7.1.3-{rule}",
            f"The sender sets {field} to 0 in the SessionHeader of {_BY_NAME[kind][0]}.",
            _change_header(_ignore_count(_BY_NAME[kind][1]), field, lambda earlier, session: 0),
        )
        for label, field, rule in (
            ("ack-number", "AckSequenceNumber", "16"),
            ("recoverable-ack-number", "RecoverableMsgAckSeqNumber", "17"),
            ("message-number", "UserMsgSequenceNumber", "18"),
            ("flags", "RecoverableMsgAckFlags", "20"),
        )
        for kind in ("express-message", "recoverable-message", "transactional-message", "own-message")
    ),
    (
        "sender-session-header-of-express-message-without-recoverable-number",
        "MQQB-3.1.7.1.3-19",
        "The sender sets RecoverableMsgSeqNumber to 0 in the SessionHeader of an express message.",
        _change_header(_ignore_count(_is_express), "RecoverableMsgSeqNumber", lambda earlier, session: 0),
    ),
    (
        "sender-second-session-header-with-window-of-peer",
        "MQQB-3.1.7.1.3-22",
        "The sender sets WindowSize in the second SessionHeader of a session to the WindowSize of the peer.",
        _change_header(_is_second_header, "WindowSize", lambda earlier, session: session.ReceivedWindowSize),
    ),
    (
        "sender-session-header-of-second-queue-with-window-1",
        "MQQB-3.1.7.1.3-22",
        "The sender sets WindowSize in the SessionHeader of a message of the second outgoing queue to 1.",
        _change_header(_ignore_count(_is_on_second_queue), "WindowSize", lambda earlier, session: 1),
    ),
    (
        "sender-header-flags-only-of-first-recoverable-message",
        "MQQB-3.1.7.1.3-20",
        "The sender sets only bit 0 of RecoverableMsgAckFlags, even if several recoverable messages are stored.",
        change_step(SessionAcks.build_header, _only_bit_0),
    ),
    *(
        (
            f"sender-{attribute.lower()}-kept-by-{label}",
            f"MQQB-3.1.7.1.3-{rule}",
            f"The sender does not change {attribute} when {words} acknowledges.",
            _keep_after_header(attribute, when),
        )
        for attribute, rule in (
            ("RecoverableMsgAckFlags", "21"),
            ("UnackedReceivedMsgCount", "24"),
        )
        for label, words, when in (
            ("second-session-header", "the second SessionHeader of a session", _is_second_header),
            (
                "header-of-recoverable-message",
                "the SessionHeader of a recoverable message",
                _ignore_count(_is_recoverable),
            ),
            (
                "header-of-transactional-message",
                "the SessionHeader of a transactional message",
                _ignore_count(_is_transactional),
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
