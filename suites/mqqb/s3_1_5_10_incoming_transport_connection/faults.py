"""Faults of MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted


@fault("acceptor-received-count-continued-on-new-session", breaks="MQQB-3.1.5.10-01")
class AcceptorReceivedCountContinuedOnNewSession(SessionInitialization):
    """The acceptor starts a new session with the MessageReceivedCount of an earlier session."""

    def initialize_session(self, session: Session, now: Now) -> None:
        super().initialize_session(session, now)
        session.MessageReceivedCount = max(one.MessageReceivedCount for one in self.qm.sessions.values())


@fault("acceptor-connection-before-first-packet-waits-for-connection-parameters", breaks="MQQB-3.1.5.10-02")
class AcceptorConnectionBeforeFirstPacketWaitsForConnectionParameters(SessionOpening):
    """The acceptor sets SessionState of a new connection to WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


@fault("acceptor-initialization-timer-not-started", breaks="MQQB-3.1.5.10-03")
class AcceptorInitializationTimerNotStarted(SessionOpening):
    """The acceptor does not start the Session Initialization Timer when it accepts a connection."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.session_timers.stop(self.qm.transports[event.transport], TimerName.SESSION_INITIALIZATION)
