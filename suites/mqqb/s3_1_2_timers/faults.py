"""Faults that break rules of MS-MQQB 3.1.2 Timers and of 3.1.2.1, 3.1.2.2, 3.1.2.4, 3.1.2.6, 3.1.2.7 and 3.1.2.8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step, omit_step_during
from harness.faults.registry import Install, add
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.config import TimerSettings
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


def _change_timer_duration(timer: TimerName, change: Callable[[int], int]) -> Install:
    """Change the duration in ms with which a timer is started."""

    class TimerDurationChanged(SessionTimers):
        def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            super().start(session, name, change(duration_ms) if name is timer else duration_ms, now)

    return replace_part(TimerDurationChanged)


add(
    "acceptor-session-initialization-timer-always-45-s",
    "MQQB-3.1.2.1-01",
    "The acceptor's Session Initialization Timer always expires after 45 s.",
    _change_timer_duration(TimerName.SESSION_INITIALIZATION, lambda _: 45_000),
)


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


add(
    "acceptor-session-cleanup-timer-always-40-s",
    "MQQB-3.1.2.2-01",
    "The acceptor's Session Cleanup Timer always expires after 40 s.",
    _change_timer_duration(TimerName.SESSION_CLEANUP, lambda _: 40_000),
)


@fault("receiver-session-cleanup-timer-of-second-session-halved", breaks="MQQB-3.1.2.2-01")
class ReceiverSessionCleanupTimerOfSecondSessionHalved(SessionTimers):
    """The receiver starts the Session Cleanup Timer of a session with half of the configured time while this timer runs
    for another session.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.SESSION_CLEANUP and any(
            self.qm.timers.is_running(TimerKey(name, other)) for other in self.qm.sessions if other != session.number
        ):
            duration_ms //= 2
        super().start(session, name, duration_ms, now)


add(
    "sender-session-ack-wait-timer-one-fifth-longer",
    "MQQB-3.1.2.4-01",
    "The sender's Session Ack Wait Timer runs 20 percent longer than specified.",
    _change_timer_duration(TimerName.SESSION_ACK_WAIT, lambda old: old * 6 // 5),
)


@fault("acceptor-session-ack-wait-timer-uses-own-default", breaks="MQQB-3.1.2.4-01", blind=True)
class AcceptorSessionAckWaitTimerUsesOwnDefault(SessionAcks):
    """An acceptor that waits for an acknowledgment uses its default timeout instead of the AckWaitTimeout that the
    initiator sent.
    """

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        agreed = session.AckWaitTimeout
        if not session.initiator:
            session.AckWaitTimeout = self.qm.settings.ack_wait_timeout_ms
        super().start_session_ack_wait_timer(session, now)
        session.AckWaitTimeout = agreed


@fault("sender-transactional-ack-wait-timer-always-three-seconds", breaks="MQQB-3.1.2.6-01")
class SenderTransactionalAckWaitTimerAlwaysThreeSeconds(TransactionalSending):
    """The sender's Transactional Ack Wait Timer expires after three seconds."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        get_outgoing_sequence(session).ResendInterval = 3
        super().start_ack_wait_timer(session, now)


@fault("sender-first-resend-interval-doubled-for-later-sequences", breaks="MQQB-3.1.2.6-01", blind=True)
class SenderFirstResendIntervalDoubledForLaterSequences(TransactionalSending):
    """For each sequence of a session after the first one, the sender starts the Transactional Ack Wait Timer with a
    duration of twice the first ResendInterval.
    """

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        sequence = get_outgoing_sequence(session)
        if session.OutgoingTxSequenceID.Ordinal > 1 and not sequence.ResendIntervalIndex:
            duration_ms = 2_000 * sequence.ResendInterval
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, duration_ms, now)


class _TimerStartCounter(SessionTimers):
    """Count the starts of each timer of a session."""

    def count_start(self, session: Session, name: TimerName) -> int:
        counts = self.__dict__.setdefault("counts", {})
        key = (name, session.number)
        counts[key] = counts.get(key, 0) + 1
        return int(counts[key])


@fault("receiver-order-ack-timer-five-times-longer-after-first-start", breaks="MQQB-3.1.2.7-01")
class ReceiverOrderAckTimerFiveTimesLongerAfterFirstStart(_TimerStartCounter):
    """The receiver starts the Order Ack Send Timer of a session with five times OrderAckTimeout, except
    the first time.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        later = name is TimerName.ORDER_ACK_SEND and self.count_start(session, name) > 1
        super().start(session, name, 5 * duration_ms if later else duration_ms, now)


@fault("receiver-history-cleanup-timer-always-30-min", breaks="MQQB-3.1.2.8-01")
class ReceiverHistoryCleanupTimerAlways30Min(MessageHistory):
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
    omit_step(SessionClosing.on_session_initialization_timer),
)


add(
    "acceptor-session-initialization-timer-not-restarted-by-response",
    "MQQB-3.1.2.1-D01",
    "The acceptor does not start the Session Initialization Timer when it sends the EstablishConnection "
    "response; the timer that started with the connection continues to run.",
    omit_step_during(SessionOpening.receive_establish_request, SessionTimers.start),
    blind=True,
)


@fault("acceptor-initialization-timer-not-started-for-own-server-guid", breaks="MQQB-3.1.2.1-D01", blind=True)
class AcceptorInitializationTimerNotStartedForOwnServerGuid(SessionOpening):
    """The acceptor does not start the Session Initialization Timer after its response to a request whose ServerGuid is
    the acceptor's GUID.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if packet.EstablishConnectionHeader.ServerGuid == self.qm.adm.Identifier:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("receiver-session-ack-send-timer-started-only-three-times", breaks="MQQB-3.1.2.5-D01")
class ReceiverSessionAckSendTimerStartedOnlyThreeTimes(_TimerStartCounter):
    """The receiver starts the Session Ack Send Timer only three times in a session."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is not TimerName.SESSION_ACK_SEND or self.count_start(session, name) <= 3:
            super().start(session, name, duration_ms, now)


@fault("sender-resend-time-set-without-resend-interval", breaks="MQQB-3.1.2.6-D01")
class SenderResendTimeSetWithoutResendInterval(TransactionalSending):
    """The sender's ResendTime is the start time of the timer, without ResendInterval."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        get_outgoing_sequence(session).ResendTime = now.utc_s


def _return_fixed_duration(duration_ms: int, specified_ms: int) -> int:
    return duration_ms


for _name, _duration_ms in (
    ("initiator-ping-response-timer-5-s", 5_000),
    ("initiator-ping-response-timer-250-ms", 250),
):
    add(
        _name,
        "MQQB-3.1.2.9-D01",
        f"The initiator's Ping Response Timer expires after {_duration_ms} ms.",
        _change_timer_duration(TimerName.PING_RESPONSE, partial(_return_fixed_duration, _duration_ms)),
    )


@fault("initiator-ping-response-timer-is-longer-from-second-ping-on", breaks="MQQB-3.1.2.9-D01", blind=True)
class InitiatorPingResponseTimerIsLongerFromSecondPingOn(SessionTimers):
    """For every ping after the first one, the initiator starts the Ping Response Timer with a duration of three
    seconds.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.PING_RESPONSE and self.qm.adm.PingCookie > 1:
            duration_ms *= 3
        super().start(session, name, duration_ms, now)


@fault("sender-resend-time-in-second-queue-without-interval", breaks="MQQB-3.1.2.6-D01", blind=True)
class SenderResendTimeInSecondQueueWithoutInterval(TransactionalSending):
    """ResendTime of the second and each later outgoing queue is the start time of the timer, without ResendInterval."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        first = next(iter(self.qm.adm.OutgoingQueues.values()), None)
        if session.OutgoingQueueReference is not first:
            get_outgoing_sequence(session).ResendTime = now.utc_s


@fault("receiver-history-timer-with-default-time-after-expiry", breaks="MQQB-3.1.2.8-01", blind=True)
class ReceiverHistoryTimerWithDefaultTimeAfterExpiry(MessageHistory):
    """After the MessageIDHistory Cleanup Timer has expired, the receiver restarts this timer with a duration of half an
    hour.
    """

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        key = TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0)
        if self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, 1_800_000)


@fault("initiator-session-cleanup-timer-default-duration", breaks="MQQB-3.1.2.2-01", blind=True)
class InitiatorSessionCleanupTimerDefaultDuration(SessionTimers):
    """The initiator starts the Session Cleanup Timer with a fixed duration of 5 minutes instead of the configured
    duration.
    """

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        if name is TimerName.SESSION_CLEANUP and session.initiator:
            duration_ms = TimerSettings().session_cleanup_ms
        super().start(session, name, duration_ms, now)
