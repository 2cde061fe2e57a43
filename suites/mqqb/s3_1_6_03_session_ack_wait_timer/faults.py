"""Faults that break rules of MS-MQQB 3.1.6.3 Session Ack Wait Timer Event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _restart_ack_wait_timer(original: Any, *_: Any) -> Callable[[QueueManager, Session, str, Now], None]:
    return lambda qm, session, reason, now: qm.session_acks.start_session_ack_wait_timer(session, now)


add(
    "sender-ack-wait-timer-restarted-instead-of-closing",
    ("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"),
    "The sender restarts the Session Ack Wait Timer when it must close the session.",
    replace_method_during(SessionAcks.on_session_ack_wait_timer, SessionClosing.close, _restart_ack_wait_timer),
)


@fault(
    "sender-ack-wait-timer-ignores-unacked-express-messages", breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"), blind=True
)
class SenderAckWaitTimerIgnoresUnackedExpressMessages(SessionAcks):
    """The sender does not close a session on which only express messages are unacknowledged."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = session.OutgoingMessageTable.awaiting_ack
        if waiting and not any(position.recoverable for position in waiting):
            self.start_session_ack_wait_timer(session, now)
            return
        super().on_session_ack_wait_timer(session, now)


@fault(
    "sender-ack-wait-timer-ignores-unacked-recoverable-messages",
    breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"),
    blind=True,
)
class SenderAckWaitTimerIgnoresUnackedRecoverableMessages(SessionAcks):
    """The sender does not close a session on which only recoverable messages are unacknowledged."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = session.OutgoingMessageTable.awaiting_ack
        if waiting and all(position.recoverable for position in waiting):
            self.start_session_ack_wait_timer(session, now)
            return
        super().on_session_ack_wait_timer(session, now)


@fault("sender-ack-wait-timer-restarted-without-unacked-messages", breaks="MQQB-3.1.6.3-02")
class SenderAckWaitTimerRestartedWithoutUnackedMessages(SessionAcks):
    """The sender restarts the Session Ack Wait Timer although all its messages are acknowledged."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            self.start_session_ack_wait_timer(session, now)


@fault("sender-received-ack-left-true-when-all-messages-are-acknowledged", breaks="MQQB-3.1.6.3-02")
class SenderReceivedAckLeftTrueWhenAllMessagesAreAcknowledged(SessionAcks):
    """The sender leaves ReceivedAck TRUE when the Session Ack Wait Timer expires and all messages are acknowledged."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = True


@fault("sender-received-ack-not-reset-by-restart-of-ack-wait-timer", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderReceivedAckNotResetByRestartOfAckWaitTimer(SessionAcks):
    """The sender does not reset ReceivedAck when it restarts the Session Ack Wait Timer."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        received = session.ReceivedAck
        super().on_session_ack_wait_timer(session, now)
        if session.SessionState is SessionState.OPEN and session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = received


@fault("sender-ack-wait-timer-closes-every-session", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderAckWaitTimerClosesEverySession(SessionAcks):
    """The sender closes all sessions when the Session Ack Wait Timer of one session expires."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if session.SessionState is not SessionState.OPEN:
            for other in list(self.qm.sessions.values()):
                if other.SessionState is SessionState.OPEN:
                    self.qm.session_closing.close(other, "a fault", now)


@fault("sender-session-with-acknowledged-messages-not-closed", breaks="MQQB-3.1.6.3-03", blind=True)
class SenderSessionWithAcknowledgedMessagesNotClosed(SessionAcks):
    """The sender does not close a session on which the receiver has acknowledged an earlier message."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.last_ack_number:
            session.ReceivedAck = True
        super().on_session_ack_wait_timer(session, now)


@fault("sender-closes-session-at-ack-wait-expiry-despite-received-ack", breaks="MQQB-3.1.6.3-04")
class SenderClosesSessionAtAckWaitExpiryDespiteReceivedAck(SessionAcks):
    """The sender closes the session at the first expiry of the Session Ack Wait Timer although it has
    received packets.
    """

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        session.ReceivedAck = False
        super().on_session_ack_wait_timer(session, now)


@fault("sender-received-ack-not-reset-at-restart", breaks="MQQB-3.1.6.3-04")
class SenderReceivedAckNotResetAtRestart(SessionAcks):
    """The sender leaves ReceivedAck TRUE when it restarts the Session Ack Wait Timer."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = True


@fault("sender-ack-wait-timer-restarted-only-once", breaks="MQQB-3.1.6.3-04", blind=True)
class SenderAckWaitTimerRestartedOnlyOnce(SessionAcks):
    """The sender restarts the Session Ack Wait Timer only once; the second expiry closes the session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._gone_on: set[int] = set()

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.number in self._gone_on and session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = False
        self._gone_on.add(session.number)
        super().on_session_ack_wait_timer(session, now)
