"""Faults of MS-MQQB 3.1.6.3 Session Ack Wait Timer Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("sender-ack-wait-of-recoverable-messages-only", breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"), blind=True)
class SenderAckWaitOfRecoverableMessagesOnly(SessionAcks):
    """The sender does not close a session on which only express messages are unacknowledged."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        waiting = session.OutgoingMessageTable.awaiting_ack
        if waiting and not any(position.recoverable for position in waiting):
            self.start_wait_timer(session, now)
            return
        super().on_wait_timer(session, now)


@fault("sender-ack-wait-of-express-messages-only", breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"), blind=True)
class SenderAckWaitOfExpressMessagesOnly(SessionAcks):
    """The sender does not close a session on which only recoverable messages are unacknowledged."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        waiting = session.OutgoingMessageTable.awaiting_ack
        if waiting and all(position.recoverable for position in waiting):
            self.start_wait_timer(session, now)
            return
        super().on_wait_timer(session, now)


@fault("sender-received-ack-not-reset-by-restart-of-ack-wait-timer", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderReceivedAckNotResetByRestartOfAckWaitTimer(SessionAcks):
    """The sender does not reset ReceivedAck when it restarts the Session Ack Wait Timer."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        received = session.ReceivedAck
        super().on_wait_timer(session, now)
        if session.SessionState is SessionState.OPEN and session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = received


@fault("sender-ack-wait-timer-closes-every-session", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderAckWaitTimerClosesEverySession(SessionAcks):
    """The sender closes all sessions when the Session Ack Wait Timer of one session expires."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        super().on_wait_timer(session, now)
        if session.SessionState is not SessionState.OPEN:
            for other in list(self.qm.sessions.values()):
                if other.SessionState is SessionState.OPEN:
                    self.qm.closing.close(other, "a fault", now)


@fault("sender-session-with-acknowledged-messages-not-closed", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderSessionWithAcknowledgedMessagesNotClosed(SessionAcks):
    """The sender does not close a session on which the receiver has acknowledged an earlier message."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        if session.last_ack:
            session.ReceivedAck = True
        super().on_wait_timer(session, now)
