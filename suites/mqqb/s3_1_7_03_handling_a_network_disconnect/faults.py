"""Faults that break rules of MS-MQQB 3.1.7.3 Handling a Network Disconnect."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import filter_inputs
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportLost

add(
    "any-lost-connection-ignored",
    "MQQB-3.1.7.3-01",
    "The queue manager does nothing when a transport connection is lost.",
    filter_inputs(lambda event: [] if isinstance(event, TransportLost) else [event]),
)


@fault("initiator-loss-of-connection-before-open-ignored", breaks="MQQB-3.1.7.3-01", blind=True)
class InitiatorLossOfConnectionBeforeOpenIgnored(SessionClosing):
    """The initiator ignores the loss of a connection on which a session is being set up."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        waiting = session.SessionState in (SessionState.WAITING_ECR_MSG, SessionState.WAITING_CPR_MSG)
        if not (session.initiator and waiting):
            super().on_transport_lost(session, reason, now)


@fault("acceptor-loss-of-connection-ignored", breaks="MQQB-3.1.7.3-01", blind=True)
class AcceptorLossOfConnectionIgnored(SessionClosing):
    """The acceptor ignores the loss of the connection of an open session."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        if session.initiator or session.SessionState is not SessionState.OPEN:
            super().on_transport_lost(session, reason, now)


@fault("initiator-later-loss-of-connection-ignored", breaks="MQQB-3.1.7.3-01", blind=True)
class InitiatorLaterLossOfConnectionIgnored(SessionClosing):
    """The initiator ignores the loss of a connection if an earlier connection for the same queue was lost."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.lost: set[int] = set()

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        again = session.number in self.lost
        self.lost.add(session.number)
        if not (session.initiator and again):
            super().on_transport_lost(session, reason, now)


@fault("acceptor-loss-of-connection-before-parameters-ignored", breaks="MQQB-3.1.7.3-01", blind=True)
class AcceptorLossOfConnectionBeforeParametersIgnored(SessionClosing):
    """The acceptor ignores the loss of a connection on which it waits for ConnectionParameters."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        if session.initiator or session.SessionState is not SessionState.WAITING_CP_MSG:
            super().on_transport_lost(session, reason, now)


@fault("lost-connection-closes-all-sessions", breaks="MQQB-3.1.7.3-01")
class LostConnectionClosesAllSessions(SessionClosing):
    """When the transport connection of one session is lost, the queue manager closes all sessions."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for other in list_open_sessions(self.qm, session):
            self.close(other, reason, now)
        super().on_transport_lost(session, reason, now)
