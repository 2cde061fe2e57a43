"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet in the SessionHeaders of some messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.timers import TimerName
from suites.mqqb.s3_1_7_01_3_updating_the_user_message.fault_steps import (
    TEXT_AND_CONDITION_BY_NAME,
    Condition,
    is_express,
    is_message_of_second_outgoing_queue,
    is_recoverable,
    is_transactional,
)

SessionHeaderCondition = Callable[[Any, Any, Any, int], bool]


def _change_session_header_field(when: SessionHeaderCondition, field: str, value: Callable[[Any, Any], int]) -> Install:
    """Return an installer of a fault that changes a field of the SessionHeader of selected messages.

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

    return change_step(MessageSending.update_user_message, run)


def _is_second_or_later_session_header(self: Any, session: Any, position: Any, earlier: int) -> bool:
    return earlier > 0


def _make_header_condition_of_message_condition(condition: Condition) -> SessionHeaderCondition:
    return lambda self, session, position, earlier: condition(self, session, position)


def _repeat_field_of_earlier_session_header(field: str) -> Callable[[Any, Any], int]:
    return lambda earlier, session: int(getattr(earlier, field))


def _keep_session_counter_after_session_header(attribute: str, when: SessionHeaderCondition) -> Install:
    """Return an installer of a fault: when some messages with a SessionHeader are sent, a counter of the session keeps
    its value instead of being reset.
    """

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

    return change_step(MessageSending.update_user_message, run)


def _keep_only_first_ack_flag(self: Any, original: Any, session: Any) -> SessionHeader:
    header: SessionHeader = original(session)
    return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"sender-second-session-header-repeats-{label}",
            rule,
            f"The sender repeats {field} of the previous SessionHeader in the second SessionHeader of a session.",
            _change_session_header_field(
                _is_second_or_later_session_header, field, _repeat_field_of_earlier_session_header(field)
            ),
        )
        for label, field, rule in (
            ("ack-number", "AckSequenceNumber", "MQQB-3.1.7.1.3-16"),
            ("recoverable-ack-number", "RecoverableMsgAckSeqNumber", "MQQB-3.1.7.1.3-17"),
            ("message-number", "UserMsgSequenceNumber", "MQQB-3.1.7.1.3-18"),
            ("recoverable-number", "RecoverableMsgSeqNumber", "MQQB-3.1.7.1.3-19"),
            ("flags", "RecoverableMsgAckFlags", "MQQB-3.1.7.1.3-20"),
        )
    ),
    *(
        (
            f"sender-session-header-of-{kind}-without-{label}",
            rule,
            f"The sender sets {field} to 0 in the SessionHeader of {TEXT_AND_CONDITION_BY_NAME[kind][0]}.",
            _change_session_header_field(
                _make_header_condition_of_message_condition(TEXT_AND_CONDITION_BY_NAME[kind][1]),
                field,
                lambda earlier, session: 0,
            ),
        )
        for label, field, rule in (
            ("ack-number", "AckSequenceNumber", "MQQB-3.1.7.1.3-16"),
            ("recoverable-ack-number", "RecoverableMsgAckSeqNumber", "MQQB-3.1.7.1.3-17"),
            ("message-number", "UserMsgSequenceNumber", "MQQB-3.1.7.1.3-18"),
            ("flags", "RecoverableMsgAckFlags", "MQQB-3.1.7.1.3-20"),
        )
        for kind in ("express-message", "recoverable-message", "transactional-message", "own-message")
    ),
    (
        "sender-session-header-of-express-message-without-recoverable-number",
        "MQQB-3.1.7.1.3-19",
        "The sender sets RecoverableMsgSeqNumber to 0 in the SessionHeader of an express message.",
        _change_session_header_field(
            _make_header_condition_of_message_condition(is_express),
            "RecoverableMsgSeqNumber",
            lambda earlier, session: 0,
        ),
    ),
    (
        "sender-second-session-header-with-window-of-peer",
        "MQQB-3.1.7.1.3-22",
        "The sender sets WindowSize in the second SessionHeader of a session to the WindowSize of the peer.",
        _change_session_header_field(
            _is_second_or_later_session_header, "WindowSize", lambda earlier, session: session.ReceivedWindowSize
        ),
    ),
    (
        "sender-session-header-of-second-queue-with-window-1",
        "MQQB-3.1.7.1.3-22",
        "The sender sets WindowSize in the SessionHeader of a message of the second outgoing queue to 1.",
        _change_session_header_field(
            _make_header_condition_of_message_condition(is_message_of_second_outgoing_queue),
            "WindowSize",
            lambda earlier, session: 1,
        ),
    ),
    (
        "sender-header-flags-only-of-first-recoverable-message",
        "MQQB-3.1.7.1.3-20",
        "The sender sets only bit 0 of RecoverableMsgAckFlags, even if several recoverable messages are stored.",
        change_step(SessionAcks.build_session_header, _keep_only_first_ack_flag),
    ),
    *(
        (
            f"sender-{attribute.lower()}-kept-by-{label}",
            rule,
            f"The sender does not change {attribute} when {words} acknowledges.",
            _keep_session_counter_after_session_header(attribute, when),
        )
        for attribute, rule in (
            ("RecoverableMsgAckFlags", "MQQB-3.1.7.1.3-21"),
            ("UnackedReceivedMsgCount", "MQQB-3.1.7.1.3-24"),
        )
        for label, words, when in (
            ("second-session-header", "the second SessionHeader of a session", _is_second_or_later_session_header),
            (
                "header-of-recoverable-message",
                "the SessionHeader of a recoverable message",
                _make_header_condition_of_message_condition(is_recoverable),
            ),
            (
                "header-of-transactional-message",
                "the SessionHeader of a transactional message",
                _make_header_condition_of_message_condition(is_transactional),
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
