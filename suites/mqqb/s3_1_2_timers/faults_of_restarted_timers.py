"""Faults of MS-MQQB 3.1.2 Timers: durations of timers that are restarted when they expire."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-session-ack-wait-timer-restarted-with-half-duration", breaks="MQQB-3.1.2.4-01", blind=True)
class SenderSessionAckWaitTimerRestartedWithHalfDuration(SessionAcks):
    """After an expiry, the sender restarts the timer with half of its duration."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        if left_ms is not None:
            self.qm.timers.start(key, now.monotonic_ms, left_ms // 2)
