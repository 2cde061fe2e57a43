"""Faults that break rules of MS-MQQB 3.1.7.13 for a later pause or in one state of the session."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


def _restart_ack_send_timer_after_pause(applies: Any) -> Install:
    """Return an installer of a fault: after selected pauses, the Session Ack Send Timer still runs."""

    def pause(self: Any, original: Any, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        pauses = self.__dict__.setdefault("pauses", [])
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        running = session.SessionState is SessionState.OPEN and self.qm.timers.is_running(key)
        meant = running and applies(session, len(pauses))
        pauses.append(session.number)
        original(queue, now)
        if meant:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)

    return change_step(TransferAdministering.pause_queue, pause)


def _restore_recoverable_ack_flags_after_pause(applies: Any) -> Install:
    """Return an installer of a fault that restores RecoverableMsgAckFlags after selected pauses."""

    def pause(self: Any, original: Any, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        pauses = self.__dict__.setdefault("pauses_with_flags", [])
        flags, last = session.RecoverableMsgAckFlags, session.LastAckedRecoverableMsgSeqNumber
        meant = bool(flags) and session.SessionState is SessionState.OPEN and applies(session, len(pauses), flags)
        pauses.append(flags)
        original(queue, now)
        if meant:
            session.RecoverableMsgAckFlags = flags
            session.LastAckedRecoverableMsgSeqNumber = last

    return change_step(TransferAdministering.pause_queue, pause)


def _has_waiting_message(session: Session, pauses: int) -> bool:
    return len(session.OutgoingMessageTable) > 0


def _has_express_messages_only(session: Session, pauses: int) -> bool:
    return not session.RecoverableMsgAckFlags


for _name, _rule, _says, _install in (
    (
        "any-session-ack-send-timer-runs-after-later-pause",
        "MQQB-3.1.7.13-01",
        "The queue manager stops the Session Ack Send Timer only when a queue is paused for the first time.",
        _restart_ack_send_timer_after_pause(lambda session, pauses: pauses > 0),
    ),
    (
        "any-session-ack-send-timer-runs-after-pause-of-queue-with-message",
        "MQQB-3.1.7.13-01",
        "The queue manager does not stop the Session Ack Send Timer when the paused queue contains a message.",
        _restart_ack_send_timer_after_pause(_has_waiting_message),
    ),
    (
        "any-session-ack-send-timer-for-express-messages-runs-after-pause",
        "MQQB-3.1.7.13-01",
        "The queue manager does not stop the Session Ack Send Timer if only express messages are unacknowledged.",
        _restart_ack_send_timer_after_pause(_has_express_messages_only),
    ),
    (
        "any-several-recoverable-flags-kept-after-pause",
        "MQQB-3.1.7.13-10",
        "The queue manager does not clear RecoverableMsgAckFlags if several flags are set.",
        _restore_recoverable_ack_flags_after_pause(lambda session, pauses, flags: flags & flags - 1),
    ),
    (
        "any-recoverable-flags-kept-after-pause-of-queue-with-message",
        "MQQB-3.1.7.13-10",
        "The queue manager does not clear RecoverableMsgAckFlags when the paused queue contains a message.",
        _restore_recoverable_ack_flags_after_pause(
            lambda session, pauses, flags: len(session.OutgoingMessageTable) > 0
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
