"""Faults that break the rules MQQB-3.1.5.9-04 to MQQB-3.1.5.9-D01."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_09_closing_a_session.fault_steps import SessionClosingChangedForSomeReasons

add(
    "initiator-reconnection-not-scheduled",
    "MQQB-3.1.5.9-04",
    "The initiator does not connect again after a session was closed while messages waited.",
    omit_step(SessionClosing.await_reconnect),
)


class _ReconnectingWithoutWaitingMessages(SessionClosing):
    """Make the initiator schedule a reconnection even if no messages wait for the session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.initiator and not len(session.OutgoingMessageTable):
            duration_ms = self.qm.settings.session_retry_connect_ms
            self.qm.session_timers.start(session, TimerName.SESSION_RETRY_CONNECT, duration_ms, now)
            session.SessionState = SessionState.WAITING_RECONNECT
            self.qm.sessions[session.number] = session


class _EstablishingWithoutWaitingMessages(SessionEstablishing):
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
    combine_installers(
        replace_part(_ReconnectingWithoutWaitingMessages), replace_part(_EstablishingWithoutWaitingMessages)
    ),
)


@fault("initiator-reconnection-attempted-only-once", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorReconnectionAttemptedOnlyOnce(SessionClosing):
    """The initiator does not try again after its first reconnection has failed."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not session.is_retrying_connection:
            super().await_reconnect(session, now)


@fault("initiator-no-retry-after-malformed-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoRetryAfterMalformedPacket(SessionClosing):
    """The initiator does not connect again after it closed the session because of a malformed packet."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if "(MS-MQQB 3.1.5.1." in reason:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-no-retry-after-session-ack-wait-timeout", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoRetryAfterSessionAckWaitTimeout(SessionAcks):
    """The initiator does not connect again after it closed the session because no acknowledgment arrived."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-no-reconnect-after-third-session-closed", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterThirdSessionClosed(SessionClosing):
    """The initiator does not connect again after it has closed the third session while messages wait."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.closed: dict[int, int] = {}

    def await_reconnect(self, session: Session, now: Now) -> None:
        super().await_reconnect(session, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.closed[session.number] = self.closed.get(session.number, 0) + 1
            if self.closed[session.number] > 2:
                self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-reconnects-while-queue-is-on-hold", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorReconnectsWhileQueueIsOnHold(SessionClosing):
    """The initiator connects again while the outgoing queue is on hold."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD and len(session.OutgoingMessageTable):
            self.qm.sessions[session.number] = session
            self.qm.session_timers.start(
                session, TimerName.SESSION_RETRY_CONNECT, self.qm.settings.session_retry_connect_ms, now
            )
            session.SessionState = SessionState.WAITING_RECONNECT


@fault("initiator-no-reconnect-if-only-transactional-messages-wait", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectIfOnlyTransactionalMessagesWait(SessionClosing):
    """The initiator does not connect again after a close if only transactional messages wait."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if session.initiator and all(one.TxSequenceNumber for one in session.OutgoingMessageTable):
            return
        super().await_reconnect(session, now)


@fault("initiator-no-reconnect-after-wrong-counts", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterWrongCounts(SessionClosingChangedForSomeReasons):
    """The initiator does not connect again after it has closed its session because of wrong counts."""

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-no-reconnect-after-missing-acknowledgment", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterMissingAcknowledgment(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because no acknowledgment arrived."""

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.6.3" in reason


@fault("initiator-no-reconnect-after-malformed-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterMalformedPacket(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because of a malformed packet."""

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.5.1.3" in reason


@fault("initiator-no-reconnect-after-unexpected-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterUnexpectedPacket(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because of an unexpected packet."""

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.5.3 to 3.1.5.8" in reason


@fault("initiator-no-reconnect-for-express-messages", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectForExpressMessages(SessionClosing):
    """The initiator does not connect again after it has closed a session if only express messages wait."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if any(one.recoverable for one in session.OutgoingMessageTable):
            super().await_reconnect(session, now)


@fault("initiator-no-reconnect-for-acknowledged-transactional-messages", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectForAcknowledgedTransactionalMessages(SessionClosing):
    """The initiator does not connect again if every waiting message has its session acknowledgment."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not all(one.ReceivedSessionAck for one in session.OutgoingMessageTable):
            super().await_reconnect(session, now)


@fault("queue-manager-session-ack-sent-at-closing", breaks="MQQB-3.1.5.9-D01")
class QueueManagerSessionAckSentAtClosing(SessionClosing):
    """The queue manager sends a SessionAck when it closes a session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)


@fault("queue-manager-session-ack-before-close-of-idle-session", breaks="MQQB-3.1.5.9-D01", blind=True)
class QueueManagerSessionAckBeforeCloseOfIdleSession(SessionClosing):
    """The queue manager sends a SessionAck before it closes an idle session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and not session.SessionActive:
            self.qm.session_acks.send(session, now)
        super().on_session_cleanup_timer(session, now)


@fault("queue-manager-due-acknowledgment-sent-at-close", breaks="MQQB-3.1.5.9-D01", blind=True)
class QueueManagerDueAcknowledgmentSentAtClose(SessionClosing):
    """When the queue manager closes a session because of wrong counts or a malformed packet, it first sends an
    acknowledgment for the messages that it has not yet acknowledged.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and session.UnackedReceivedMsgCount and "lost" not in reason:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)
