"""Faults of MS-MQQB 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


def _change_timer_duration(timer: TimerName, change: Callable[[int], int]) -> Install:
    """Change the duration in ms with which a timer is started."""

    class TimerDurationChanged(SessionTimers):
        def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            super().start(session, name, change(duration_ms) if name is timer else duration_ms, now)

    return replace_part(TimerDurationChanged)


def _replace_timer_duration(duration_ms: int, specified_ms: int) -> int:
    return duration_ms


add(
    "acceptor-session-initialization-timer-always-45-s",
    "MQQB-3.1.2.1-01",
    "The acceptor's Session Initialization Timer always expires after 45 s.",
    _change_timer_duration(TimerName.SESSION_INITIALIZATION, lambda _: 45_000),
)
add(
    "acceptor-session-cleanup-timer-always-40-s",
    "MQQB-3.1.2.2-01",
    "The acceptor's Session Cleanup Timer always expires after 40 s.",
    _change_timer_duration(TimerName.SESSION_CLEANUP, lambda _: 40_000),
)
add(
    "sender-session-ack-wait-timer-one-fifth-longer",
    "MQQB-3.1.2.4-01",
    "The sender's Session Ack Wait Timer runs 20 percent longer than specified.",
    _change_timer_duration(TimerName.SESSION_ACK_WAIT, lambda old: old * 6 // 5),
)


@fault("sender-transactional-ack-wait-timer-3-s", breaks="MQQB-3.1.2.6-01")
class SenderTransactionalAckWaitTimer3S(TransactionalSending):
    """The sender's Transactional Ack Wait Timer expires after three seconds."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        outgoing_sequence(session).ResendInterval = 3
        super().start_ack_wait_timer(session, now)


for _name, _duration_ms in (
    ("initiator-ping-response-timer-5-s", 5_000),
    ("initiator-ping-response-timer-250-ms", 250),
):
    add(
        _name,
        "MQQB-3.1.2.9-D01",
        f"The initiator's Ping Response Timer expires after {_duration_ms} ms.",
        _change_timer_duration(TimerName.PING_RESPONSE, partial(_replace_timer_duration, _duration_ms)),
    )


@fault("sender-resend-time-set-without-resend-interval", breaks="MQQB-3.1.2.6-D01")
class SenderResendTimeSetWithoutResendInterval(TransactionalSending):
    """The sender's ResendTime is the start time of the timer, without ResendInterval."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        outgoing_sequence(session).ResendTime = now.utc_s


@fault("receiver-history-cleanup-timer-always-30-min", breaks="MQQB-3.1.2.8-01")
class ReceiverHistoryCleanupTimerAlways30Min(History):
    """The receiver's MessageIDHistory Cleanup Timer always expires after half an hour."""

    def start_history_timer(self, now: Now) -> None:
        configured = self.qm.settings
        self.qm.settings = replace(configured, message_id_history_cleanup_ms=1_800_000)
        super().start_history_timer(now)
        self.qm.settings = configured


add(
    "acceptor-session-initialization-timer-ignored",
    ("MQQB-3.1.6.6-01", "MQQB-3.1.2.1-D01"),
    "The acceptor does nothing when its Session Initialization Timer expires.",
    skip(Closing.on_session_initialization_timer),
)
