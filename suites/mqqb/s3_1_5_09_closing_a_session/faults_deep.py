"""Faults of MS-MQQB 3.1.5.9 Closing a Session that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-no-retry-after-malformed-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoRetryAfterMalformedPacket(Closing):
    """The initiator does not connect again after it closed the session because of a malformed packet."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if "(MS-MQQB 3.1.5.1." in reason:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-no-retry-after-session-ack-wait-timeout", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoRetryAfterSessionAckWaitTimeout(SessionAcks):
    """The initiator does not connect again after it closed the session because no acknowledgment arrived."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        super().on_wait_timer(session, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-retries-twice-only", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorRetriesTwiceOnly(Closing):
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


@fault("initiator-retry-while-on-hold", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorRetryWhileOnHold(Closing):
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


@fault("initiator-closed-session-releases-held-queue-after-loss", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorClosedSessionReleasesHeldQueueAfterLoss(Closing):
    """The initiator resets State of a paused queue when the connection is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.DISCONNECTED


@fault("initiator-queue-of-idle-session-connected", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueOfIdleSessionConnected(Closing):
    """The initiator leaves the outgoing queue Connected when it closes an idle session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and session.SessionState is SessionState.CLOSED:
            queue.State = OutgoingQueueState.CONNECTED


@fault("queue-manager-session-ack-before-close-of-idle-session", breaks="MQQB-3.1.5.9-D01", blind=True)
class QueueManagerSessionAckBeforeCloseOfIdleSession(Closing):
    """The queue manager sends a SessionAck before it closes an idle session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and not session.SessionActive:
            self.qm.session_acks.send(session, now)
        super().on_session_cleanup_timer(session, now)


@fault("queue-manager-connection-of-idle-session-open", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerConnectionOfIdleSessionOpen(Closing):
    """The acceptor does not close the connection of a session that it closes because the session is idle."""

    def close_transport(self, session: Session, reason: str) -> None:
        if session.initiator or "idle" not in reason:
            super().close_transport(session, reason)


@fault("queue-manager-connection-after-ack-wait-open", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerConnectionAfterAckWaitOpen(Closing):
    """The initiator does not close the connection of a session on which no acknowledgment arrived."""

    def close_transport(self, session: Session, reason: str) -> None:
        if "no acknowledgment arrived" not in reason:
            super().close_transport(session, reason)


@fault("acceptor-session-state-of-idle-session-open", breaks="MQQB-3.1.5.9-02", blind=True)
class AcceptorSessionStateOfIdleSessionOpen(Closing):
    """The acceptor leaves SessionState of an accepted session at OPEN when it closes the session because
    the session is idle.
    """

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        if not session.initiator and session.SessionState is SessionState.CLOSED:
            session.SessionState = SessionState.OPEN


@fault("queue-manager-closed-session-keeps-session-ack-send-timer", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerClosedSessionKeepsSessionAckSendTimer(Closing):
    """The queue manager does not stop the Session Ack Send Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        running = session.UnackedReceivedMsgCount and session.SessionState is SessionState.OPEN
        super().close(session, reason, now)
        if running:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("queue-manager-close-stops-timers-of-other-sessions", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerCloseStopsTimersOfOtherSessions(Closing):
    """When the queue manager closes a session, it also stops the Session Ack Send Timers of other sessions."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for other in self.qm.sessions.values():
            self.qm.session_timers.stop(other, TimerName.SESSION_ACK_SEND)


@fault("initiator-queue-of-second-closed-session-connected", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueOfSecondClosedSessionConnected(Closing):
    """The initiator sets State of the outgoing queue to Connected after the session of this queue has
    closed for the second time.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.closed: set[int] = set()

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and session.number in self.closed and queue.State is OutgoingQueueState.DISCONNECTED:
            queue.State = OutgoingQueueState.CONNECTED
        self.closed.add(session.number)


@fault("initiator-no-retry-for-transactional-messages-alone", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoRetryForTransactionalMessagesAlone(Closing):
    """The initiator does not connect again after a close if only transactional messages wait."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if session.initiator and all(one.TxSequenceNumber for one in session.OutgoingMessageTable):
            return
        super().await_reconnect(session, now)


@fault("acceptor-cleanup-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03", blind=True)
class AcceptorCleanupTimerRunsAfterClose(Closing):
    """The acceptor does not stop the Session Cleanup Timer of an accepted session when the session closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if not session.initiator:
            self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)


class _Causes(Closing):
    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.5.5.5" in reason

    def close(self, session: Session, reason: str, now: Now) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.State
        super().close(session, reason, now)
        if self.is_cause_of_fault(reason):
            self.change(session, before, now)

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        raise NotImplementedError


@fault("initiator-state-kept-after-wrong-counts", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorStateKeptAfterWrongCounts(_Causes):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session because
    of wrong counts.
    """

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        if session.initiator and before is not None:
            outgoing_queue(session).State = before


@fault("initiator-state-kept-after-malformed-packet", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorStateKeptAfterMalformedPacket(InitiatorStateKeptAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session after a
    malformed packet.
    """

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.5.1.3" in reason


@fault("initiator-state-kept-after-missing-acknowledgment", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorStateKeptAfterMissingAcknowledgment(InitiatorStateKeptAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session because
    no acknowledgment arrived.
    """

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.6.3" in reason


@fault("initiator-state-kept-after-idle-time", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorStateKeptAfterIdleTime(InitiatorStateKeptAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes an idle session."""

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.6.2" in reason


@fault("initiator-no-reconnect-after-wrong-counts", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterWrongCounts(_Causes):
    """The initiator does not connect again after it has closed its session because of wrong counts."""

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-no-reconnect-after-missing-acknowledgment", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterMissingAcknowledgment(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because no acknowledgment arrived."""

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.6.3" in reason


@fault("initiator-no-reconnect-after-malformed-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterMalformedPacket(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because of a malformed packet."""

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.5.1.3" in reason


@fault("initiator-no-reconnect-after-out-of-state-packet", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectAfterOutOfStatePacket(InitiatorNoReconnectAfterWrongCounts):
    """The initiator does not connect again after it has closed its session because of an unexpected packet."""

    def is_cause_of_fault(self, reason: str) -> bool:
        return "3.1.5.3 to 3.1.5.8" in reason


@fault("initiator-no-reconnect-for-express-messages", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectForExpressMessages(Closing):
    """The initiator does not connect again after it has closed a session if only express messages wait."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if any(one.recoverable for one in session.OutgoingMessageTable):
            super().await_reconnect(session, now)


@fault("initiator-no-reconnect-for-acknowledged-transactional-messages", breaks="MQQB-3.1.5.9-04", blind=True)
class InitiatorNoReconnectForAcknowledgedTransactionalMessages(Closing):
    """The initiator does not connect again if every waiting message has its session acknowledgment."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not all(one.ReceivedSessionAck for one in session.OutgoingMessageTable):
            super().await_reconnect(session, now)


@fault("queue-manager-transport-left-open-after-wrong-counts", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerTransportLeftOpenAfterWrongCounts(Closing):
    """An initiator that closes its session because of wrong counts leaves the transport connection open."""

    def close_transport(self, session: Session, reason: str) -> None:
        if not (session.initiator and "3.1.5.5.5" in reason):
            super().close_transport(session, reason)


@fault("acceptor-transport-left-open-after-idle-time", breaks="MQQB-3.1.5.9-D02", blind=True)
class AcceptorTransportLeftOpenAfterIdleTime(Closing):
    """An acceptor that closes an idle session leaves the transport connection open."""

    def close_transport(self, session: Session, reason: str) -> None:
        if session.initiator or "3.1.6.2" not in reason:
            super().close_transport(session, reason)


@fault("queue-manager-due-acknowledgment-sent-at-close", breaks="MQQB-3.1.5.9-D01", blind=True)
class QueueManagerDueAcknowledgmentSentAtClose(Closing):
    """When the queue manager closes a session because of wrong counts or a malformed packet, it first sends an
    acknowledgment for the messages that it has not yet acknowledged.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and session.UnackedReceivedMsgCount and "lost" not in reason:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)


@fault("queue-manager-order-ack-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerOrderAckTimerRunsAfterClose(Closing):
    """The queue manager does not stop the Transactional Ack Wait Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        sequence = session.TxOutgoingSequence
        super().close(session, reason, now)
        if session.initiator and sequence is not None and sequence.UnackedSequence:
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, 1000 * sequence.ResendInterval, now)


@fault("queue-manager-other-session-of-same-peer-closed", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerOtherSessionOfSamePeerClosed(Closing):
    """When the queue manager closes a session because of wrong counts, it also closes its other sessions with the same
    queue manager.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if "3.1.5.5.5" in reason:
            for other in list(self.qm.sessions.values()):
                if other.RemoteQMGuid == session.RemoteQMGuid and other.SessionState is SessionState.OPEN:
                    super().close(other, "a fault", now)


@fault("acceptor-session-of-lost-connection-stays-open", breaks="MQQB-3.1.5.9-02")
class AcceptorSessionOfLostConnectionStaysOpen(Closing):
    """The acceptor leaves SessionState of an accepted session at OPEN after the other side has closed
    the connection.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        was_open = session.SessionState is SessionState.OPEN
        super().on_transport_lost(session, reason, now)
        if was_open and not session.initiator:
            session.SessionState = SessionState.OPEN
            self.qm.sessions[session.number] = session


@fault("acceptor-cleanup-timer-of-lost-connection-runs", breaks="MQQB-3.1.5.9-D03")
class AcceptorCleanupTimerOfLostConnectionRuns(Closing):
    """The acceptor does not stop the Session Cleanup Timer of an accepted session after the other side
    has closed the connection.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        if not session.initiator:
            ms = self.qm.settings.session_cleanup_ms
            self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, ms, now)
