"""Faults of MS-MQQB 3.1.5.9 Closing a Session: packets that the queue manager sends before it closes a session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-sends-session-ack-before-it-closes-after-violation", breaks="MQQB-3.1.5.9-D01", blind=True)
class AcceptorSendsSessionAckBeforeItClosesAfterViolation(SessionClosing):
    """The acceptor acknowledges the messages that it has received before it closes an open session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        connected = session.transport is not None and session.transport in self.qm.transports
        if session.SessionState is SessionState.OPEN and connected and session.UnackedReceivedMsgCount:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)


@fault("initiator-sends-establish-request-before-it-closes-idle-session", breaks="MQQB-3.1.5.9-D01", blind=True)
class InitiatorSendsEstablishRequestBeforeItClosesIdleSession(SessionClosing):
    """The initiator sends an EstablishConnection before it closes an idle session."""

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        if session.initiator and session.SessionState is SessionState.OPEN and not session.SessionActive:
            packet = self.qm.session_establishing.build_establish_request(session, now)
            self.qm.session_connecting.send(session, packet.build())
        super().on_session_cleanup_timer(session, now)
