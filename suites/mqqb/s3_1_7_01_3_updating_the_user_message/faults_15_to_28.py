"""Faults that break the rules MQQB-3.1.7.1.3-15 to MQQB-3.1.7.1.3-28."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from harness.faults.fields import add_to_field
from harness.faults.parts import fault
from harness.faults.primitives import (
    change_core_after_every_input,
    omit_step,
    replace_method_during,
    send_wrong_field_values,
)
from harness.faults.registry import Install, add
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_3_updating_the_user_message.fault_steps import change_session_after_message_update

add(
    "sender-session-header-ack-sequence-number-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-16"),
    "The SessionHeader in the sender's message has an AckSequenceNumber that is one too high.",
    add_to_field(UserMessagePacket, "SessionHeader.AckSequenceNumber", 1),
)


add(
    "sender-session-header-recoverable-number-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-17"),
    "The SessionHeader in the sender's message has a RecoverableMsgAckSeqNumber that is one too high.",
    add_to_field(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)


add(
    "sender-session-header-has-one-flag-too-many",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-20"),
    "The SessionHeader in the sender's message flags one message too many in RecoverableMsgAckFlags.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SessionHeader.RecoverableMsgAckFlags": lambda old: old << 1 | 1},
        lambda packet: packet.SessionHeader is not None,
    ),
)


add(
    "sender-session-header-window-size-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
    "The SessionHeader in the sender's message has a WindowSize that is one too high.",
    add_to_field(UserMessagePacket, "SessionHeader.WindowSize", 1),
)


class _LaterSessionHeaderChanger(SessionAcks):
    """Change the second and each later SessionHeader of a session, if the SessionHeader is in a user message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        return replace(packet, SessionHeader=SessionAcks.build_session_header(self, session))

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        first = self.first.setdefault(session.number, header)
        return header if first is header else self.change(header, first)

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return header


@fault(
    "sender-later-session-headers-repeat-ack-numbers-of-first",
    breaks=("MQQB-3.1.7.1.3-16", "MQQB-3.1.7.1.3-17"),
    blind=True,
)
class SenderLaterSessionHeadersRepeatAckNumbersOfFirst(_LaterSessionHeaderChanger):
    """In the second and each later SessionHeader of a session, the sender repeats the acknowledged numbers of the first
    SessionHeader.
    """

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return replace(
            header,
            AckSequenceNumber=first.AckSequenceNumber,
            RecoverableMsgAckSeqNumber=first.RecoverableMsgAckSeqNumber,
        )


@fault(
    "sender-later-session-headers-repeat-sent-counts-of-first",
    breaks=("MQQB-3.1.7.1.3-18", "MQQB-3.1.7.1.3-19"),
    blind=True,
)
class SenderLaterSessionHeadersRepeatSentCountsOfFirst(_LaterSessionHeaderChanger):
    """In the second and each later SessionHeader of a session, the sender repeats the counts of sent messages of the
    first SessionHeader.
    """

    def change(self, header: SessionHeader, first: SessionHeader) -> SessionHeader:
        return replace(
            header,
            UserMsgSequenceNumber=first.UserMsgSequenceNumber,
            RecoverableMsgSeqNumber=first.RecoverableMsgSeqNumber,
        )


@fault("sender-session-header-recoverable-ack-flags-cut-to-8-bits", breaks="MQQB-3.1.7.1.3-20", blind=True)
class SenderSessionHeaderRecoverableAckFlagsCutTo8Bits(SessionAcks):
    """The sender puts only the lower 8 bits of RecoverableMsgAckFlags into the SessionHeader of a user message."""

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        return replace(packet, SessionHeader=SessionAcks.build_session_header(self, session))

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFF)


def _change_session_after_session_header(change: Callable[[QueueManager, Session, Session, Now], None]) -> Install:
    """Change the session after a message with a SessionHeader was sent; the earlier state of the session is also an
    argument of ``change``.
    """

    def replace_note_acknowledged(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note_acknowledged_and_change_session(qm: QueueManager, session: Session, now: Now) -> None:
            before = copy(session)
            original(qm, session, now)
            change(qm, session, before, now)

        return note_acknowledged_and_change_session

    return replace_method_during(
        MessageSending.update_user_message, SessionAcks.reset_unacknowledged_counts, replace_note_acknowledged
    )


def _keep_recoverable_ack_flags(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.RecoverableMsgAckFlags = before.RecoverableMsgAckFlags


add(
    "sender-ack-flags-kept-after-session-header",
    "MQQB-3.1.7.1.3-21",
    "The sender does not clear RecoverableMsgAckFlags after it sends a message with a SessionHeader.",
    _change_session_after_session_header(_keep_recoverable_ack_flags),
)


@fault("sender-session-header-has-window-size-of-peer", breaks=("MQQB-3.1.7.1.3-22", "MQQB-3.1.7.11-10"), blind=True)
class SenderSessionHeaderHasWindowSizeOfPeer(MessageSending):
    """The sender puts the peer's WindowSize into the SessionHeader of a message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize))


def _keep_unacked_received_count(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.UnackedReceivedMsgCount = before.UnackedReceivedMsgCount
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


add(
    "sender-unacked-received-count-kept-after-session-header",
    ("MQQB-3.1.7.1.3-23", "MQQB-3.1.7.1.3-24"),
    "The sender does not reset UnackedReceivedMsgCount after it sends a message with a SessionHeader.",
    _change_session_after_session_header(_keep_unacked_received_count),
)


def _increment_last_acked_recoverable_number(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber += 1


add(
    "sender-last-acked-number-high-after-session-header",
    "MQQB-3.1.7.1.3-25",
    "The sender sets LastAckedRecoverableMsgSeqNumber one too high after it sends a message with a SessionHeader.",
    _change_session_after_session_header(_increment_last_acked_recoverable_number),
)


def _clear_awaiting_ack(qm: QueueManager) -> None:
    """Clear AwaitingAck of all sent messages, and prevent the sender from resending them."""
    for session in qm.sessions.values():
        session.OutgoingMessageTable.get_next_unsent()
        for position in session.OutgoingMessageTable:
            position.AwaitingAck = False


add(
    "sender-outgoing-entry-awaiting-ack-false-after-sending",
    "MQQB-3.1.7.1.3-26",
    "The sender leaves AwaitingAck of a sent OutgoingMessagePosition at FALSE.",
    change_core_after_every_input(_clear_awaiting_ack),
)


add(
    "sender-ack-wait-timer-not-started",
    "MQQB-3.1.7.1.3-27",
    "The sender does not start the Session Ack Wait Timer when it sends a message.",
    omit_step(SessionAcks.start_session_ack_wait_timer),
)


@fault("sender-express-message-starts-no-session-ack-wait-timer", breaks="MQQB-3.1.7.1.3-27", blind=True)
class SenderExpressMessageStartsNoSessionAckWaitTimer(MessageSending):
    """The sender starts the Session Ack Wait Timer when it sends a recoverable message, but not when it sends an
    express message.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_WAIT, session.number))
        packet = super().update_user_message(session, position, now)
        if not running and not position.recoverable:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_WAIT)
        return packet


@fault("sender-ack-wait-timer-started-by-first-message-only", breaks="MQQB-3.1.7.1.3-27", blind=True)
class SenderAckWaitTimerStartedByFirstMessageOnly(MessageSending):
    """The sender starts the Session Ack Wait Timer only for the first message of a session."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        running = self.qm.timers.is_running(key)
        packet = super().update_user_message(session, position, now)
        if session.MessageSentCount > 1 and not running:
            self.qm.timers.stop(key)
        return packet


def _clear_session_active(session: Session, position: OutgoingMessagePosition) -> None:
    session.SessionActive = False


add(
    "sender-session-active-not-set",
    "MQQB-3.1.7.1.3-28",
    "The sender leaves SessionActive at FALSE when it sends a message.",
    change_session_after_message_update(_clear_session_active),
)
