"""Faults of MS-MQQB 3.1.5.9 Closing a Session."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip, skip_during
from harness.faults.registry import add
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("any-session-state-open-after-closing", breaks="MQQB-3.1.5.9-02")
class AnySessionStateOpenAfterClosing(Closing):
    """The queue manager leaves SessionState of a closed session at OPEN."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.SessionState is SessionState.CLOSED:
            session.SessionState = SessionState.OPEN


@fault("initiator-outgoing-queue-connected-after-closing", breaks="MQQB-3.1.5.9-03")
class InitiatorOutgoingQueueConnectedAfterClosing(Closing):
    """The initiator sets State of the outgoing queue of a closed session to Connected."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.OutgoingQueueReference is not None:
            session.OutgoingQueueReference.State = OutgoingQueueState.CONNECTED


@fault("initiator-outgoing-queue-on-hold-ended-by-closing", breaks=("MQQB-3.1.5.9-03", "MQQB-3.1.5.9-04"))
class InitiatorOutgoingQueueOnHoldEndedByClosing(Closing):
    """The initiator changes State of a paused outgoing queue from OnHold to a different value when it closes the
    session of this queue.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED
        super().close(session, reason, now)


add(
    "initiator-reconnection-not-scheduled",
    "MQQB-3.1.5.9-04",
    "The initiator does not connect again after a session was closed while messages waited.",
    skip(Closing.await_reconnect),
)


class _ReconnectionScheduledWithoutMessages(Closing):
    """Make the initiator schedule a reconnection even if no messages wait for the session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.initiator and not len(session.OutgoingMessageTable):
            duration_ms = self.qm.settings.session_retry_connect_ms
            self.qm.session_timers.start(session, TimerName.SESSION_RETRY_CONNECT, duration_ms, now)
            session.SessionState = SessionState.WAITING_RECONNECT
            self.qm.sessions[session.number] = session


class _SessionEstablishedWithoutMessages(Establishing):
    """Make the initiator establish a closed session again although no messages wait for the session."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if len(session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)
        elif session.SessionState is SessionState.WAITING_RECONNECT:
            self.establish(session, now, again=True)


add(
    "initiator-reconnection-without-messages",
    ("MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01"),
    "The initiator connects again after a session was closed although no messages wait.",
    both(replace_part(_ReconnectionScheduledWithoutMessages), replace_part(_SessionEstablishedWithoutMessages)),
)


@fault("any-session-ack-sent-at-closing", breaks="MQQB-3.1.5.9-D01")
class AnySessionAckSentAtClosing(Closing):
    """The queue manager sends a SessionAck when it closes a session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)


add(
    "any-connection-open-after-closing",
    "MQQB-3.1.5.9-D02",
    "The queue manager leaves the transport connection of a closed session open.",
    skip(Closing.close_transport),
)
add(
    "any-timers-running-after-closing",
    "MQQB-3.1.5.9-D03",
    "The queue manager does not stop the timers of a closed session.",
    skip_during(Closing.close, SessionTimers.stop),
)


@fault("initiator-reconnection-attempted-only-once", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorReconnectionAttemptedOnlyOnce(Closing):
    """The initiator does not try again after its first reconnection has failed."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not session.retrying:
            super().await_reconnect(session, now)


@fault("initiator-transactional-ack-wait-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03")
class InitiatorTransactionalAckWaitTimerRunsAfterClose(Closing):
    """The initiator does not stop the Transactional Ack Wait Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        key = TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number)
        running = self.qm.timers.is_running(key)
        super().close(session, reason, now)
        if running:
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, 30_000, now)
