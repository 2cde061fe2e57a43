"""Faults that break the rules MQQB-3.1.5.9-02 to MQQB-3.1.5.9-03."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_09_closing_a_session.fault_steps import SessionClosingChangedForSomeReasons


@fault("queue-manager-session-state-open-after-closing", breaks="MQQB-3.1.5.9-02")
class QueueManagerSessionStateOpenAfterClosing(SessionClosing):
    """The queue manager leaves SessionState of a closed session at OPEN."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.SessionState is SessionState.CLOSED:
            session.SessionState = SessionState.OPEN


@fault("acceptor-session-state-open-after-closing-of-idle-session", breaks="MQQB-3.1.5.9-02", blind=True)
class AcceptorSessionStateOpenAfterClosingOfIdleSession(SessionClosing):
    """The acceptor leaves SessionState of an accepted session at OPEN when it closes the session because
    the session is idle.
    """

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        if not session.initiator and session.SessionState is SessionState.CLOSED:
            session.SessionState = SessionState.OPEN


@fault("acceptor-session-state-open-after-connection-loss", breaks="MQQB-3.1.5.9-02")
class AcceptorSessionStateOpenAfterConnectionLoss(SessionClosing):
    """The acceptor leaves SessionState of an accepted session at OPEN after the other side has closed
    the connection.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        was_open = session.SessionState is SessionState.OPEN
        super().on_transport_lost(session, reason, now)
        if was_open and not session.initiator:
            session.SessionState = SessionState.OPEN
            self.qm.sessions[session.number] = session


@fault("initiator-queue-state-is-connected-after-session-closes", breaks="MQQB-3.1.5.9-03")
class InitiatorQueueStateIsConnectedAfterSessionCloses(SessionClosing):
    """The initiator sets State of the outgoing queue of a closed session to Connected."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.OutgoingQueueReference is not None:
            session.OutgoingQueueReference.State = OutgoingQueueState.CONNECTED


@fault("initiator-changes-queue-state-on-hold-when-session-closes", breaks=("MQQB-3.1.5.9-03", "MQQB-3.1.5.9-04"))
class InitiatorChangesQueueStateOnHoldWhenSessionCloses(SessionClosing):
    """The initiator changes State of a paused outgoing queue from OnHold to a different value when it closes the
    session of this queue.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED
        super().close(session, reason, now)


@fault("initiator-resets-queue-state-on-hold-when-connection-is-lost", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorResetsQueueStateOnHoldWhenConnectionIsLost(SessionClosing):
    """The initiator resets State of a paused queue when the connection is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.DISCONNECTED


@fault("initiator-queue-of-closed-idle-session-left-connected", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueOfClosedIdleSessionLeftConnected(SessionClosing):
    """The initiator leaves the outgoing queue Connected when it closes an idle session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        super().on_session_cleanup_timer(session, now)
        queue = session.OutgoingQueueReference if session.initiator else None
        if queue is not None and session.SessionState is SessionState.CLOSED:
            queue.State = OutgoingQueueState.CONNECTED


@fault("initiator-queue-left-connected-after-second-closing", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueLeftConnectedAfterSecondClosing(SessionClosing):
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


@fault("initiator-queue-state-connected-after-wrong-counts", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueStateConnectedAfterWrongCounts(SessionClosingChangedForSomeReasons):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session because
    of wrong counts.
    """

    def change(self, session: Session, before: OutgoingQueueState | None, now: Now) -> None:
        if session.initiator and before is not None:
            get_outgoing_queue(session).State = before


@fault("initiator-queue-state-connected-after-malformed-packet", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueStateConnectedAfterMalformedPacket(InitiatorQueueStateConnectedAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session after a
    malformed packet.
    """

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.5.1.3" in reason


@fault("initiator-queue-state-connected-after-missing-acknowledgment", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueStateConnectedAfterMissingAcknowledgment(InitiatorQueueStateConnectedAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes its session because
    no acknowledgment arrived.
    """

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.6.3" in reason


@fault("initiator-queue-state-connected-after-closing-of-idle-session", breaks="MQQB-3.1.5.9-03", blind=True)
class InitiatorQueueStateConnectedAfterClosingOfIdleSession(InitiatorQueueStateConnectedAfterWrongCounts):
    """The initiator leaves State of the outgoing queue at Connected when it closes an idle session."""

    def is_closing_reason_of_fault(self, reason: str) -> bool:
        return "3.1.6.2" in reason


@fault("initiator-session-state-of-paused-queue-stays-open", breaks="MQQB-3.1.5.9-02", blind=True)
class InitiatorSessionStateOfPausedQueueStaysOpen(SessionClosing):
    """The initiator leaves SessionState of a closed session at OPEN if the outgoing queue of the session is OnHold."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        was_open, queue = session.SessionState is SessionState.OPEN, session.OutgoingQueueReference
        super().close(session, reason, now)
        if was_open and session.initiator and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            session.SessionState = SessionState.OPEN
