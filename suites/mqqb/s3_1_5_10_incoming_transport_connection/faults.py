"""Faults that break rules of MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted


@fault("acceptor-received-count-continued-on-new-session", breaks="MQQB-3.1.5.10-01")
class AcceptorReceivedCountContinuedOnNewSession(SessionInitialization):
    """The acceptor starts a new session with the MessageReceivedCount of an earlier session."""

    def initialize_session(self, session: Session, now: Now) -> None:
        super().initialize_session(session, now)
        session.MessageReceivedCount = max(one.MessageReceivedCount for one in self.qm.sessions.values())


@fault("acceptor-later-session-of-initiator-keeps-count", breaks="MQQB-3.1.5.10-01", blind=True)
class AcceptorLaterSessionOfInitiatorKeepsCount(SessionOpening):
    """The acceptor starts the message count of a session at the count of the initiator's previous session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: dict[object, Session] = {}

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        before = self.last.get(session.RemoteQMGuid)
        if before is not None and before.SessionState is SessionState.CLOSED:
            session.MessageReceivedCount = before.MessageReceivedCount
        self.last[session.RemoteQMGuid] = session


@fault("acceptor-second-connection-of-initiator-closes-first", breaks="MQQB-3.1.5.10-01", blind=True)
class AcceptorSecondConnectionOfInitiatorClosesFirst(SessionOpening):
    """The acceptor closes the open session of an initiator that opens a second session."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        for other in list(self.qm.sessions.values()):
            same = other is not session and not other.initiator and other.RemoteQMGuid == session.RemoteQMGuid
            if same and other.SessionState is SessionState.OPEN:
                self.qm.session_closing.close(other, "a fault", now)


@fault("acceptor-later-session-of-host-keeps-recoverable-count", breaks="MQQB-3.1.5.10-01", blind=True)
class AcceptorLaterSessionOfHostKeepsRecoverableCount(SessionOpening):
    """When a host connects again after its earlier session has closed, the acceptor starts the new session with the
    RecoverableMessageReceivedCount of the earlier session.
    """

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        for old in self.qm.closed_sessions:
            if not old.initiator and old.RemoteQMAddress == session.RemoteQMAddress:
                session.RecoverableMessageReceivedCount = old.RecoverableMessageReceivedCount


@fault("acceptor-new-connection-closes-connection-that-awaits-request", breaks="MQQB-3.1.5.10-01", blind=True)
class AcceptorNewConnectionClosesConnectionThatAwaitsRequest(SessionOpening):
    """When the acceptor accepts a new connection, it closes an earlier connection that waits for its
    EstablishConnection request.
    """

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        for other in list(self.qm.sessions.values()):
            if other.SessionState is SessionState.WAITING_EC_MSG and not other.initiator:
                self.qm.session_closing.close(other, "a fault", now)
        super().accept_transport(event, now)


@fault("acceptor-continues-recoverable-count-of-open-session", breaks="MQQB-3.1.5.10-01", blind=True)
class AcceptorContinuesRecoverableCountOfOpenSession(SessionOpening):
    """The acceptor starts a new session with the RecoverableMessageReceivedCount of an open session with
    the same address.
    """

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        counts = [one.RecoverableMessageReceivedCount for one in self.qm.sessions.values() if not one.initiator]
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        if isinstance(session, Session):
            session.RecoverableMessageReceivedCount = max(counts, default=0)


@fault(
    "acceptor-refuses-connection-while-own-session-to-peer-is-open",
    breaks=("MQQB-3.1.5.10-01", "MQQB-3.1.5.10-02"),
    blind=True,
)
class AcceptorRefusesConnectionWhileOwnSessionToPeerIsOpen(SessionOpening):
    """The acceptor closes a new connection from a host with which it has an open session as initiator."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        own = [one for one in self.qm.sessions.values() if one.initiator and one.RemoteQMAddress == event.remote.host]
        if any(one.SessionState is SessionState.OPEN for one in own) and isinstance(session, Session):
            self.qm.session_closing.close(session, "a fault", now)


@fault("acceptor-initialization-timer-not-started", breaks="MQQB-3.1.5.10-03")
class AcceptorInitializationTimerNotStarted(SessionOpening):
    """The acceptor does not start the Session Initialization Timer when it accepts a connection."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.session_timers.stop(self.qm.transports[event.transport], TimerName.SESSION_INITIALIZATION)


@fault("acceptor-second-connection-without-initialization-timer", breaks="MQQB-3.1.5.10-03", blind=True)
class AcceptorSecondConnectionWithoutInitializationTimer(SessionOpening):
    """The acceptor does not start the Session Initialization Timer while the timer of another connection is running."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if not one.initiator]
        waiting = any(one.SessionState is SessionState.WAITING_EC_MSG for one in others)
        super().accept_transport(event, now)
        session = self.qm.transports.get(event.transport)
        if waiting and isinstance(session, Session):
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("acceptor-no-initialization-timer-for-second-connection", breaks="MQQB-3.1.5.10-03", blind=True)
class AcceptorNoInitializationTimerForSecondConnection(SessionOpening):
    """The acceptor starts no Session Initialization Timer for a connection while another accepted session exists."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if not one.initiator]
        super().accept_transport(event, now)
        if others:
            self.qm.session_timers.stop(self.qm.transports[event.transport], TimerName.SESSION_INITIALIZATION)


@fault("acceptor-second-connection-initialization-timer-not-started", breaks="MQQB-3.1.5.10-03", blind=True)
class AcceptorSecondConnectionInitializationTimerNotStarted(SessionOpening):
    """The acceptor starts no Session Initialization Timer for a connection that it accepts while this timer is running
    for an earlier connection.
    """

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        waiting = any(
            not session.initiator
            and self.qm.timers.is_running(TimerKey(TimerName.SESSION_INITIALIZATION, session.number))
            for session in self.qm.sessions.values()
        )
        super().accept_transport(event, now)
        if waiting:
            self.qm.session_timers.stop(self.qm.transports[event.transport], TimerName.SESSION_INITIALIZATION)
