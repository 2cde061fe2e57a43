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


def _running_for(timer: TimerName, change: Callable[[int], int]) -> Install:
    """Let a timer run for another time than that it is started with, in ms."""

    class RunningFor(SessionTimers):
        def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            super().start(session, name, change(duration_ms) if name is timer else duration_ms, now)

    return replace_part(RunningFor)


def _always(duration_ms: int, specified_ms: int) -> int:
    return duration_ms


add(
    "timer-initialization-of-its-own",
    "MQQB-3.1.2.1-01",
    "The Session Initialization Timer always runs for 45 s.",
    _running_for(TimerName.SESSION_INITIALIZATION, lambda _: 45_000),
)
add(
    "timer-cleanup-of-its-own",
    "MQQB-3.1.2.2-01",
    "The Session Cleanup Timer always runs for 40 s.",
    _running_for(TimerName.SESSION_CLEANUP, lambda _: 40_000),
)
add(
    "timer-ack-wait-no-multiple",
    "MQQB-3.1.2.4-01",
    "The Session Ack Wait Timer runs for a fifth longer than it has to.",
    _running_for(TimerName.SESSION_ACK_WAIT, lambda old: old * 6 // 5),
)


@fault("resend-too-soon", breaks="MQQB-3.1.2.6-01")
class ResendTooSoon(TransactionalSending):
    """The Transactional Ack Wait Timer runs for three seconds."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        outgoing_sequence(session).ResendInterval = 3
        super().start_ack_wait_timer(session, now)


for _name, _duration_ms in (("timer-ping-response-of-five-seconds", 5_000), ("timer-ping-response-too-short", 250)):
    add(
        _name,
        "MQQB-3.1.2.9-D01",
        f"The Ping Response Timer runs for {_duration_ms} ms.",
        _running_for(TimerName.PING_RESPONSE, partial(_always, _duration_ms)),
    )


@fault("resend-time-of-now", breaks="MQQB-3.1.2.6-D01")
class ResendTimeOfNow(TransactionalSending):
    """ResendTime is the time at which the timer was set."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        outgoing_sequence(session).ResendTime = now.utc_s


@fault("history-cleanup-not-configured", breaks="MQQB-3.1.2.8-01")
class HistoryCleanupNotConfigured(History):
    """The MessageIDHistory Cleanup Timer runs for half an hour, whatever is configured."""

    def start_history_timer(self, now: Now) -> None:
        configured = self.qm.settings
        self.qm.settings = replace(configured, message_id_history_cleanup_ms=1_800_000)
        super().start_history_timer(now)
        self.qm.settings = configured


add(
    "initialization-timer-without-effect",
    ("MQQB-3.1.6.6-01", "MQQB-3.1.2.1-D01"),
    "Nothing happens when the Session Initialization Timer expires.",
    skip(Closing.on_session_initialization_timer),
)
