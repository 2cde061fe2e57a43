"""Faults that break rules of MS-MQQB 3.1.7.11 for a later SessionHeader or another kind of message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, SessionHeader, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

_SESSION_HEADER_FLAG = BaseHeader.flags(SH=1)


def _change_session_header(change: Callable[[Session, SessionHeader, int], SessionHeader]) -> Install:
    """Return an installer of a fault that changes the SessionHeader in a message. ``change`` is also called with the
    number of SessionHeaders that the session has sent in messages before.
    """

    def run(
        self: Any, original: Callable[..., Any], session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet: UserMessagePacket = original(session, position, now)
        if packet.SessionHeader is None:
            return packet
        counts = self.__dict__.setdefault("headers", {})
        before = counts.get(session.number, 0)
        counts[session.number] = before + 1
        return replace(packet, SessionHeader=change(session, packet.SessionHeader, before))

    return change_step(MessageSending.update_user_message, run)


def _omit_session_header(when: Callable[[UserMessagePacket, int], bool]) -> Install:
    """Return an installer of a fault that omits the SessionHeader of selected messages and clears SH."""

    def run(
        self: Any, original: Callable[..., Any], session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet: UserMessagePacket = original(session, position, now)
        if packet.SessionHeader is None:
            return packet
        self.__dict__["flagged"] = self.__dict__.get("flagged", 0) + 1
        if not when(packet, self.__dict__["flagged"]):
            return packet
        base = replace(packet.BaseHeader, PacketSize=0, Flags=packet.BaseHeader.Flags & ~_SESSION_HEADER_FLAG)
        return replace(packet, BaseHeader=base, SessionHeader=None)

    return change_step(MessageSending.update_user_message, run)


def _reset_recoverable_ack_number_to_one(session: Session, header: SessionHeader, before: int) -> SessionHeader:
    if not before or not header.RecoverableMsgAckSeqNumber:
        return header
    return replace(header, RecoverableMsgAckSeqNumber=1)


def _add_express_count_to_recoverable_ack_number(session: Session, header: SessionHeader, before: int) -> SessionHeader:
    if not header.RecoverableMsgAckSeqNumber:
        return header
    express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
    return replace(header, RecoverableMsgAckSeqNumber=header.RecoverableMsgAckSeqNumber + express & 0xFFFF)


def _acknowledge_only_highest_recoverable_number(session: Session, header: SessionHeader, before: int) -> SessionHeader:
    flags = header.RecoverableMsgAckFlags
    if not flags:
        return header
    highest = header.RecoverableMsgAckSeqNumber + flags.bit_length() - 1 & 0xFFFF
    return replace(header, RecoverableMsgAckSeqNumber=highest, RecoverableMsgAckFlags=1)


def change_session_after_session_header(
    change: Callable[[Any, Session, int, tuple[int, int, int], Now], None],
) -> Install:
    """Return an installer of a fault that changes a session after a message with a SessionHeader. ``change`` is also
    called with the number of such messages, and with the state before: the number of unacknowledged messages, the last
    acknowledged recoverable number, and the remaining time of the Session Ack Send Timer.
    """

    def run(
        self: Any, original: Callable[..., Any], session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        before = (
            session.UnackedReceivedMsgCount,
            session.LastAckedRecoverableMsgSeqNumber,
            self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0,
        )
        packet: UserMessagePacket = original(session, position, now)
        if packet.SessionHeader is not None:
            counts = self.__dict__.setdefault("sent_headers", {})
            counts[session.number] = counts.get(session.number, 0) + 1
            change(self, session, counts[session.number], before, now)
        return packet

    return change_step(MessageSending.update_user_message, run)


def _set_last_acked_number_to_message_count(self: Any, session: Session, count: int, before: Any, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber = session.MessageReceivedCount


def _keep_last_acked_number_after_second_header(self: Any, session: Session, count: int, before: Any, now: Now) -> None:
    if count > 1:
        session.LastAckedRecoverableMsgSeqNumber = before[1]


def _decrement_last_acked_number(self: Any, session: Session, count: int, before: Any, now: Now) -> None:
    if session.LastAckedRecoverableMsgSeqNumber > before[1] + 1:
        session.LastAckedRecoverableMsgSeqNumber -= 1


def _make_ack_send_timer_restart(when: Callable[[Session, int], bool]) -> Callable[..., None]:
    def change(self: Any, session: Session, count: int, before: Any, now: Now) -> None:
        if when(session, count):
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, before[2], now)

    return change


def keep_unacked_received_count(when: Callable[[Session, int, tuple[int, int, int]], bool]) -> Callable[..., None]:
    """Return a function that sets UnackedReceivedMsgCount and the Session Ack Send Timer back to their values before
    the sender added a SessionHeader to a message.
    """

    def change(self: Any, session: Session, count: int, before: tuple[int, int, int], now: Now) -> None:
        if when(session, count, before):
            session.UnackedReceivedMsgCount = before[0]
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, before[2], now)

    return change


def has_new_recoverable_ack(session: Session, before: tuple[int, int, int]) -> bool:
    """Return whether the SessionHeader has acknowledged recoverable messages."""
    return session.LastAckedRecoverableMsgSeqNumber != before[1]


for _name, _rule, _says, _install in (
    (
        "sender-later-session-header-begins-with-number-1",
        "MQQB-3.1.7.11-06",
        "RecoverableMsgAckSeqNumber of the sender's second and later SessionHeaders in messages is 1.",
        _change_session_header(_reset_recoverable_ack_number_to_one),
    ),
    (
        "sender-session-header-recoverable-number-counts-express-messages",
        "MQQB-3.1.7.11-06",
        "RecoverableMsgAckSeqNumber of a SessionHeader in a message also counts received express messages.",
        _change_session_header(_add_express_count_to_recoverable_ack_number),
    ),
    (
        "sender-session-header-recoverable-number-is-highest",
        "MQQB-3.1.7.11-06",
        "RecoverableMsgAckSeqNumber of a SessionHeader in a message is the highest unacknowledged number.",
        _change_session_header(_acknowledge_only_highest_recoverable_number),
    ),
    (
        "sender-sh-clear-in-transactional-message",
        "MQQB-3.1.7.11-11",
        "The sender omits the SessionHeader of a transactional message, and clears SH.",
        _omit_session_header(lambda packet, count: packet.TransactionHeader is not None),
    ),
    (
        "sender-sh-clear-in-recoverable-message",
        "MQQB-3.1.7.11-11",
        "The sender omits the SessionHeader of a recoverable message, and clears SH.",
        _omit_session_header(lambda packet, count: bool(packet.UserHeader.DM) and packet.TransactionHeader is None),
    ),
    (
        "sender-last-acked-number-counts-express-messages",
        "MQQB-3.1.7.11-14",
        "After a SessionHeader, LastAckedRecoverableMsgSeqNumber of the sender is the number of all messages.",
        change_session_after_session_header(_set_last_acked_number_to_message_count),
    ),
    (
        "sender-last-acked-number-kept-at-second-session-header",
        "MQQB-3.1.7.11-14",
        "After its second SessionHeader, the sender does not change LastAckedRecoverableMsgSeqNumber.",
        change_session_after_session_header(_keep_last_acked_number_after_second_header),
    ),
    (
        "sender-last-acked-number-of-several-messages-one-less",
        "MQQB-3.1.7.11-14",
        "After a SessionHeader for several recoverable messages, LastAckedRecoverableMsgSeqNumber is one too low.",
        change_session_after_session_header(_decrement_last_acked_number),
    ),
    (
        "sender-ack-send-timer-runs-on-after-second-session-header",
        "MQQB-3.1.7.11-15",
        "After its second SessionHeader in a message, the sender does not stop the Session Ack Send Timer.",
        change_session_after_session_header(_make_ack_send_timer_restart(lambda session, count: count > 1)),
    ),
    (
        "sender-ack-send-timer-runs-on-after-recoverable-messages",
        "MQQB-3.1.7.11-15",
        "After a SessionHeader for recoverable messages, the sender does not stop the Session Ack Send Timer.",
        change_session_after_session_header(
            _make_ack_send_timer_restart(lambda session, count: session.RecoverableMessageReceivedCount > 0)
        ),
    ),
    (
        "sender-ack-send-timer-runs-on-after-express-messages",
        "MQQB-3.1.7.11-15",
        "After a SessionHeader for express messages only, the sender does not stop the Session Ack Send Timer.",
        change_session_after_session_header(
            _make_ack_send_timer_restart(lambda session, count: session.RecoverableMessageReceivedCount == 0)
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
