"""Faults of MS-MQQB 3.1.6.3 Session Ack Wait Timer Event: messages after an expiry, and several expiries."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-ack-wait-timer-after-idle-expiry-not-started", breaks="MQQB-3.1.6.3-02", blind=True)
class SenderSessionAckWaitTimerAfterIdleExpiryNotStarted(SessionAcks):
    """After the Session Ack Wait Timer has expired while no message was unacknowledged, the sender no longer starts the
    timer for its next message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.idle: set[int] = set()

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_session_ack_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            self.idle.add(session.number)

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.number in self.idle:
            self.idle.discard(session.number)
            return
        super().start_session_ack_wait_timer(session, now)


@fault("sender-received-ack-kept-at-expiry-without-unacked-message", breaks="MQQB-3.1.6.3-02", blind=True)
class SenderReceivedAckKeptAtExpiryWithoutUnackedMessage(SessionAcks):
    """When the Session Ack Wait Timer expires while no message is unacknowledged, the sender does not reset
    ReceivedAck, and so closes the session of its next unacknowledged message one period too late.
    """

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        before = session.ReceivedAck
        super().on_session_ack_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = before


@fault("sender-session-closed-at-second-expiry-despite-packets", breaks="MQQB-3.1.6.3-04", blind=True)
class SenderSessionClosedAtSecondExpiryDespitePackets(SessionAcks):
    """The sender restarts the Session Ack Wait Timer only once, and closes the session at the second expiry, although
    packets arrive.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.restarted: set[int] = set()

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        if session.OutgoingMessageTable.awaiting_ack and session.ReceivedAck:
            if session.number in self.restarted:
                session.ReceivedAck = False
            self.restarted.add(session.number)
        super().on_session_ack_wait_timer(session, now)
