"""Faults of MS-MQQB 3.1.2 Timers that occur only in the second start of a timer or in a second session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


class _CountingTimerStarts(SessionTimers):
    """Count the starts of each timer of a session."""

    def count_start(self, session: Session, name: TimerName) -> int:
        counts = self.__dict__.setdefault("counts", {})
        key = (name, session.number)
        counts[key] = counts.get(key, 0) + 1
        return int(counts[key])


@fault("receiver-order-ack-timer-doubled-after-first-start", breaks="MQQB-3.1.2.7-01")
class ReceiverOrderAckTimerDoubledAfterFirstStart(_CountingTimerStarts):
    """The receiver starts the Order Ack Send Timer of a session with five times OrderAckTimeout, except
    the first time.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        later = name is TimerName.ORDER_ACK_SEND and self.count_start(session, name) > 1
        super().start(session, name, 5 * duration_ms if later else duration_ms, now)


@fault("receiver-cleanup-timer-of-second-session-of-half-the-duration", breaks="MQQB-3.1.2.2-01")
class ReceiverCleanupTimerOfSecondSessionOfHalfTheDuration(SessionTimers):
    """The receiver starts the Session Cleanup Timer of a session with half of the configured time while this timer runs
    for another session.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.SESSION_CLEANUP and any(
            self.qm.timers.is_running(TimerKey(name, other)) for other in self.qm.sessions if other != session.number
        ):
            duration_ms //= 2
        super().start(session, name, duration_ms, now)


@fault("acceptor-initialization-timer-of-second-session-not-running", breaks="MQQB-3.1.2.1-01")
class AcceptorInitializationTimerOfSecondSessionNotRunning(SessionTimers):
    """The acceptor does not start the Session Initialization Timer of a session while this timer runs for another
    session.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.SESSION_INITIALIZATION and any(
            self.qm.timers.is_running(TimerKey(name, other)) for other in self.qm.sessions if other != session.number
        ):
            return
        super().start(session, name, duration_ms, now)


@fault("receiver-ack-send-timer-of-second-expiry-not-started", breaks="MQQB-3.1.2.5-D01")
class ReceiverAckSendTimerOfSecondExpiryNotStarted(_CountingTimerStarts):
    """The receiver starts the Session Ack Send Timer only three times in a session."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is not TimerName.SESSION_ACK_SEND or self.count_start(session, name) <= 3:
            super().start(session, name, duration_ms, now)
