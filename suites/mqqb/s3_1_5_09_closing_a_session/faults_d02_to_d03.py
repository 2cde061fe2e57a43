"""Faults that break the rules MQQB-3.1.5.9-D02 to MQQB-3.1.5.9-D03."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import omit_step, omit_step_during
from harness.faults.registry import add
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

add(
    "any-connection-open-after-closing",
    "MQQB-3.1.5.9-D02",
    "The queue manager leaves the transport connection of a closed session open.",
    omit_step(SessionClosing.close_transport),
)


@fault("queue-manager-connection-left-open-after-closing-idle-session", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerConnectionLeftOpenAfterClosingIdleSession(SessionClosing):
    """The acceptor does not close the connection of a session that it closes because the session is idle."""

    def close_transport(self, session: Session, reason: str) -> None:
        if session.initiator or "idle" not in reason:
            super().close_transport(session, reason)


@fault("queue-manager-connection-left-open-after-ack-wait-timeout", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerConnectionLeftOpenAfterAckWaitTimeout(SessionClosing):
    """The initiator does not close the connection of a session on which no acknowledgment arrived."""

    def close_transport(self, session: Session, reason: str) -> None:
        if "no acknowledgment arrived" not in reason:
            super().close_transport(session, reason)


@fault("queue-manager-transport-left-open-after-wrong-counts", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerTransportLeftOpenAfterWrongCounts(SessionClosing):
    """An initiator that closes its session because of wrong counts leaves the transport connection open."""

    def close_transport(self, session: Session, reason: str) -> None:
        if not (session.initiator and "3.1.5.5.5" in reason):
            super().close_transport(session, reason)


@fault("acceptor-transport-left-open-after-idle-time", breaks="MQQB-3.1.5.9-D02", blind=True)
class AcceptorTransportLeftOpenAfterIdleTime(SessionClosing):
    """An acceptor that closes an idle session leaves the transport connection open."""

    def close_transport(self, session: Session, reason: str) -> None:
        if session.initiator or "3.1.6.2" not in reason:
            super().close_transport(session, reason)


@fault("queue-manager-other-session-of-same-peer-closed", breaks="MQQB-3.1.5.9-D02", blind=True)
class QueueManagerOtherSessionOfSamePeerClosed(SessionClosing):
    """When the queue manager closes a session because of wrong counts, it also closes its other sessions with the same
    queue manager.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if "3.1.5.5.5" in reason:
            for other in list(self.qm.sessions.values()):
                if other.RemoteQMGuid == session.RemoteQMGuid and other.SessionState is SessionState.OPEN:
                    super().close(other, "a fault", now)


@fault("queue-manager-closing-one-session-closes-all-connections", breaks="MQQB-3.1.5.9-D02")
class QueueManagerClosingOneSessionClosesAllConnections(SessionClosing):
    """When the queue manager closes a session, it closes the transport connections of all open sessions."""

    def close_transport(self, session: Session, reason: str) -> None:
        for other in list_open_sessions(self.qm, session):
            super().close_transport(other, reason)
        super().close_transport(session, reason)


add(
    "any-timers-running-after-closing",
    "MQQB-3.1.5.9-D03",
    "The queue manager does not stop the timers of a closed session.",
    omit_step_during(SessionClosing.close, SessionTimers.stop),
)


@fault("initiator-transactional-ack-wait-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03")
class InitiatorTransactionalAckWaitTimerRunsAfterClose(SessionClosing):
    """The initiator does not stop the Transactional Ack Wait Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        key = TimerKey(TimerName.TRANSACTIONAL_ACK_WAIT, session.number)
        running = self.qm.timers.is_running(key)
        super().close(session, reason, now)
        if running:
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, 30_000, now)


@fault("queue-manager-closed-session-keeps-session-ack-send-timer", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerClosedSessionKeepsSessionAckSendTimer(SessionClosing):
    """The queue manager does not stop the Session Ack Send Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        running = session.UnackedReceivedMsgCount and session.SessionState is SessionState.OPEN
        super().close(session, reason, now)
        if running:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("queue-manager-closing-one-session-stops-timers-of-others", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerClosingOneSessionStopsTimersOfOthers(SessionClosing):
    """When the queue manager closes a session, it also stops the Session Ack Send Timers of other sessions."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for other in self.qm.sessions.values():
            self.qm.session_timers.stop(other, TimerName.SESSION_ACK_SEND)


@fault("acceptor-cleanup-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03", blind=True)
class AcceptorCleanupTimerRunsAfterClose(SessionClosing):
    """The acceptor does not stop the Session Cleanup Timer of an accepted session when the session closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if not session.initiator:
            self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)


@fault("queue-manager-order-ack-timer-runs-after-close", breaks="MQQB-3.1.5.9-D03", blind=True)
class QueueManagerOrderAckTimerRunsAfterClose(SessionClosing):
    """The queue manager does not stop the Transactional Ack Wait Timer of a session that it closes."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        sequence = session.TxOutgoingSequence
        super().close(session, reason, now)
        if session.initiator and sequence is not None and sequence.UnackedSequence:
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, 1000 * sequence.ResendInterval, now)


@fault("acceptor-session-cleanup-timer-not-stopped-at-connection-loss", breaks="MQQB-3.1.5.9-D03")
class AcceptorSessionCleanupTimerNotStoppedAtConnectionLoss(SessionClosing):
    """The acceptor does not stop the Session Cleanup Timer of an accepted session after the other side
    has closed the connection.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        if not session.initiator:
            ms = self.qm.settings.session_cleanup_ms
            self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, ms, now)
