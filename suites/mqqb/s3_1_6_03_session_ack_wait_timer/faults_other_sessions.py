"""Faults of MS-MQQB 3.1.6.3 Session Ack Wait Timer Event, with several sessions and at later expiries."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-packet-on-other-session-keeps-silent-session-open", breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"))
class SenderPacketOnOtherSessionKeepsSilentSessionOpen(SessionAcks):
    """The sender keeps a session without acknowledgments open if a packet arrived on another session."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        others = list_open_sessions(self.qm, session)
        session.ReceivedAck = session.ReceivedAck or any(one.ReceivedAck for one in others)
        super().on_session_ack_wait_timer(session, now)


@fault("sender-session-kept-after-restart-of-ack-wait-timer", breaks=("MQQB-3.1.6.3-03", "MQQB-3.1.6.3-01"))
class SenderSessionKeptAfterRestartOfAckWaitTimer(SessionAcks):
    """The sender restarts the Session Ack Wait Timer only once, and then never closes the session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._restarted: set[int] = set()

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.number in self._restarted:
            return
        if session.ReceivedAck and session.OutgoingMessageTable.awaiting_ack:
            self._restarted.add(session.number)
        super().on_session_ack_wait_timer(session, now)


@fault("sender-received-ack-not-reset-without-unacked-messages", breaks="MQQB-3.1.6.3-02")
class SenderReceivedAckNotResetWithoutUnackedMessages(SessionAcks):
    """The sender does not reset ReceivedAck when the timer expires while no message is unacknowledged."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        before = session.ReceivedAck
        idle = not session.OutgoingMessageTable.awaiting_ack
        super().on_session_ack_wait_timer(session, now)
        if idle:
            session.ReceivedAck = before


@fault("sender-unacked-express-messages-do-not-close-session", breaks=("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"))
class SenderUnackedExpressMessagesDoNotCloseSession(SessionAcks):
    """The sender does not close a session whose only unacknowledged messages are express."""

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if all(not one.recoverable for one in session.OutgoingMessageTable.awaiting_ack):
            session.ReceivedAck = True
        super().on_session_ack_wait_timer(session, now)
