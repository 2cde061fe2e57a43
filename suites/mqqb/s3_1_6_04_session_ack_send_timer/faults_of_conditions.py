"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event that depend on earlier acknowledgments and other sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import replace_byte
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import FormatError, SessionAckPacket, parse_packet
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendPacket

Condition = Callable[[Any, Any, int], bool]
"""The type of conditions: a function of the part, the session and the number of earlier SessionAcks of the session."""


def _has_earlier_ack(self: Any, session: Any, earlier: int) -> bool:
    return earlier > 0


def _has_two_earlier_acks(self: Any, session: Any, earlier: int) -> bool:
    return earlier > 1


def _has_second_session(self: Any, session: Any, earlier: int) -> bool:
    others = (one.number for one in self.qm.sessions.values() if one is not session)
    return any(number < session.number for number in others)


def _is_initiated_session(self: Any, session: Any, earlier: int) -> bool:
    return bool(session.initiator)


def _has_only_express_messages(self: Any, session: Any, earlier: int) -> bool:
    return not session.RecoverableMsgAckFlags


def _has_sent_messages(self: Any, session: Any, earlier: int) -> bool:
    return bool(session.MessageSentCount)


def _has_several_unacked_messages(self: Any, session: Any, earlier: int) -> bool:
    return bool(session.UnackedReceivedMsgCount > 3)


_SESSION_ACK_CONDITIONS: dict[str, tuple[str, Condition]] = {
    "second-session-ack": ("the second and each later SessionAck of a session", _has_earlier_ack),
    "third-session-ack": ("the third and each later SessionAck of a session", _has_two_earlier_acks),
    "session-ack-of-later-session": ("a SessionAck on a session while an older session exists", _has_second_session),
    "session-ack-of-initiator": ("a SessionAck on a session that it initiated", _is_initiated_session),
    "session-ack-of-express-messages": ("a SessionAck for express messages only", _has_only_express_messages),
    "session-ack-after-sent-message": ("a SessionAck after it has sent a message", _has_sent_messages),
    "session-ack-of-several-messages": ("a SessionAck for more than three messages", _has_several_unacked_messages),
}


def _count_earlier_session_acks(self: Any, session: Any) -> int:
    known = self.__dict__.setdefault("sent", {})
    earlier: int = known.get(session.transport, 0)
    return earlier


def _omit_session_ack(case: str) -> Install:
    """Return an installer of a fault that omits some of the SessionAcks that are due when the Session Ack Send Timer
    expires.
    """
    when = _SESSION_ACK_CONDITIONS[case][1]

    def run(self: Any, original: Any, session: Any, now: Any) -> None:
        earlier = _count_earlier_session_acks(self, session)
        self.sent[session.transport] = earlier + bool(session.UnackedReceivedMsgCount)
        if session.UnackedReceivedMsgCount and when(self, session, earlier):
            return
        original(session, now)

    return change_step(SessionAcks.on_order_ack_send_timer, run)


def _change_session_ack(case: str, change: Callable[[Any, Any, Any], Any]) -> Install:
    """Return an installer of a fault that changes the packet of selected SessionAcks."""
    when = _SESSION_ACK_CONDITIONS[case][1]

    def run(self: Any, original: Any, session: Any) -> SessionAckPacket:
        earlier = _count_earlier_session_acks(self, session)
        last = self.__dict__.setdefault("last", {})
        packet: SessionAckPacket = original(session)
        if when(self, session, earlier):
            packet = change(packet, session, last.get(session.transport, packet.SessionHeader))
        self.sent[session.transport] = earlier + 1
        last[session.transport] = packet.SessionHeader
        return packet

    return change_step(SessionAcks.build, run)


def _set_session_header_field(field: str, value: Callable[[Any, Any], int]) -> Callable[[Any, Any, Any], Any]:
    return lambda packet, session, last: replace(
        packet, SessionHeader=replace(packet.SessionHeader, **{field: value(session, last)})
    )


def _repeat_field_of_last_session_header(field: str) -> Callable[[Any, Any, Any], Any]:
    return _set_session_header_field(field, lambda session, last: getattr(last, field))


def _change_byte_of_session_ack(at: int, change: Callable[[int], int], when: Callable[[str, int], bool]) -> Install:
    """Return an installer of a fault that changes one byte of selected SessionAcks.

    ``when`` is called with the name of the connection and the number of earlier SessionAcks on the connection.
    """

    def install_effect_filter(faulty: FaultyCore) -> None:
        counts: dict[str, int] = {}

        def change_session_ack_effect(effect: Effect) -> Iterable[Effect]:
            if not isinstance(effect, SendPacket) or not isinstance(
                _parse_packet_or_none(effect.data), SessionAckPacket
            ):
                return [effect]
            earlier = counts.get(effect.transport, 0)
            counts[effect.transport] = earlier + 1
            chosen = when(effect.transport, earlier)
            return [replace(effect, data=replace_byte(at, change)(effect.data)) if chosen else effect]

        faulty.effect_filters.append(change_session_ack_effect)

    return install_effect_filter


def _parse_packet_or_none(data: bytes) -> object:
    try:
        return parse_packet(data)
    except FormatError:
        return None


def _clear_session_header_flag(flags: int) -> int:
    return flags & ~0x10


def _is_third_ack_of_connection(transport: str, earlier: int) -> bool:
    return earlier > 1


def _is_on_initiated_connection(transport: str, earlier: int) -> bool:
    return transport.startswith("out-")


def _keep_session_element_after_session_ack(case: str, attribute: str) -> Install:
    """Return an installer of a fault: after some SessionAcks, an element of the session keeps its value instead of
    being reset.
    """
    when = _SESSION_ACK_CONDITIONS[case][1]

    def run(self: Any, original: Any, session: Any, now: Any) -> None:
        earlier = _count_earlier_session_acks(self, session)
        self.sent[session.transport] = earlier + 1
        before = getattr(session, attribute)
        chosen = when(self, session, earlier)
        original(session, now)
        if chosen:
            setattr(session, attribute, before)

    return change_step(SessionAcks.reset_unacknowledged_counts, run)


def _send_ack_without_messages(self: Any, original: Any, session: Any, now: Any) -> None:
    sent = self.__dict__.setdefault("empty", set())
    if session.UnackedReceivedMsgCount:
        original(session, now)
        sent.add(session.number)
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)
    elif session.number in sent:
        sent.discard(session.number)
        self.send(session, now)


_SESSION_HEADER_FIELD_FAULTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("ack-number", "AckSequenceNumber", "MQQB-3.1.6.4-04", ("second-session-ack", "session-ack-of-later-session")),
    (
        "recoverable-ack-number",
        "RecoverableMsgAckSeqNumber",
        "MQQB-3.1.6.4-05",
        ("second-session-ack", "third-session-ack"),
    ),
    ("message-number", "UserMsgSequenceNumber", "MQQB-3.1.6.4-06", ("second-session-ack", "third-session-ack")),
    ("recoverable-number", "RecoverableMsgSeqNumber", "MQQB-3.1.6.4-07", ("second-session-ack", "third-session-ack")),
    ("flags", "RecoverableMsgAckFlags", "MQQB-3.1.6.4-08", ("second-session-ack", "third-session-ack")),
)
_ZERO_SESSION_HEADER_FIELD_FAULTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "ack-number",
        "AckSequenceNumber",
        "MQQB-3.1.6.4-04",
        ("session-ack-of-initiator", "session-ack-after-sent-message"),
    ),
    (
        "recoverable-ack-number",
        "RecoverableMsgAckSeqNumber",
        "MQQB-3.1.6.4-05",
        ("session-ack-of-initiator", "session-ack-of-several-messages"),
    ),
    (
        "message-number",
        "UserMsgSequenceNumber",
        "MQQB-3.1.6.4-06",
        ("session-ack-of-initiator", "session-ack-after-sent-message"),
    ),
    (
        "recoverable-number",
        "RecoverableMsgSeqNumber",
        "MQQB-3.1.6.4-07",
        ("session-ack-of-express-messages", "session-ack-after-sent-message"),
    ),
    (
        "flags",
        "RecoverableMsgAckFlags",
        "MQQB-3.1.6.4-08",
        ("session-ack-of-initiator", "session-ack-after-sent-message", "session-ack-of-several-messages"),
    ),
    ("window-size", "WindowSize", "MQQB-3.1.6.4-09", ("second-session-ack", "session-ack-of-initiator")),
)
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"receiver-{case}-omitted",
            "MQQB-3.1.6.4-01",
            f"When the Session Ack Send Timer expires, the receiver omits {_SESSION_ACK_CONDITIONS[case][0]}.",
            _omit_session_ack(case),
        )
        for case in (
            "third-session-ack",
            "session-ack-of-later-session",
            "session-ack-of-initiator",
            "session-ack-of-express-messages",
            "session-ack-after-sent-message",
            "session-ack-of-several-messages",
        )
    ),
    (
        "receiver-session-ack-without-new-messages-once",
        "MQQB-3.1.6.4-01",
        "When the timer expires after a SessionAck and no message has arrived since, the receiver sends a SessionAck.",
        change_step(SessionAcks.on_order_ack_send_timer, _send_ack_without_messages),
    ),
    *(
        (
            f"receiver-{case}-without-{label}-flag",
            "MQQB-3.1.6.4-02",
            f"The receiver clears {label.upper()} in BaseHeader.Flags of {_SESSION_ACK_CONDITIONS[case][0]}.",
            _change_byte_of_session_ack(2, clear, when),
        )
        for case, label, clear, when in (
            ("third-session-ack", "sh", _clear_session_header_flag, _is_third_ack_of_connection),
            ("session-ack-of-initiator", "sh", _clear_session_header_flag, _is_on_initiated_connection),
        )
    ),
    *(
        (
            f"receiver-{case}-with-packet-type-2",
            "MQQB-3.1.6.4-03",
            f"The receiver sets InternalHeader.Flags.PT to 0x2 in {_SESSION_ACK_CONDITIONS[case][0]}.",
            _change_byte_of_session_ack(18, lambda old: old & 0xF0 | 2, when),
        )
        for case, when in (
            ("third-session-ack", _is_third_ack_of_connection),
            ("session-ack-of-initiator", _is_on_initiated_connection),
        )
    ),
    *(
        (
            f"receiver-{case}-repeats-{label}",
            rule,
            f"The receiver repeats {field} of the previous SessionAck in {_SESSION_ACK_CONDITIONS[case][0]}.",
            _change_session_ack(case, _repeat_field_of_last_session_header(field)),
        )
        for label, field, rule, cases in _SESSION_HEADER_FIELD_FAULTS
        for case in cases
    ),
    *(
        (
            f"receiver-{case}-without-{label}",
            rule,
            f"The receiver sets {field} to 0 in {_SESSION_ACK_CONDITIONS[case][0]}.",
            _change_session_ack(case, _set_session_header_field(field, lambda session, last: 0)),
        )
        for label, field, rule, cases in _ZERO_SESSION_HEADER_FIELD_FAULTS
        for case in cases
    ),
    *(
        (
            f"receiver-flags-kept-by-{case}",
            "MQQB-3.1.6.4-10",
            f"The receiver does not clear RecoverableMsgAckFlags after {_SESSION_ACK_CONDITIONS[case][0]}.",
            _keep_session_element_after_session_ack(case, "RecoverableMsgAckFlags"),
        )
        for case in ("third-session-ack", "session-ack-of-initiator", "session-ack-after-sent-message")
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("receiver-session-ack-missing-for-express-after-recoverable-acks", breaks="MQQB-3.1.6.4-11", blind=True)
class ReceiverSessionAckMissingForExpressAfterRecoverableAcks(SessionAcks):
    """After a SessionAck for recoverable messages, the receiver sends no SessionAck for later express messages."""

    def reset_unacknowledged_counts(self, session: Session, now: Now) -> None:
        if session.RecoverableMsgAckFlags:
            self.__dict__.setdefault("sessions", set()).add(session.number)
        super().reset_unacknowledged_counts(session, now)

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if session.number not in self.__dict__.get("sessions", ()) or session.RecoverableMsgAckFlags:
            super().on_order_ack_send_timer(session, now)
