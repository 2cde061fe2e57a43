"""Faults that break rules of MS-MQQB 3.1.6.6 Session Initialization Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("acceptor-initialization-timer-restarted-by-partial-packet", breaks="MQQB-3.1.6.6-01", blind=True)
class AcceptorInitializationTimerRestartedByPartialPacket(Identifying):
    """The acceptor restarts the Session Initialization Timer for each piece of a packet."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        super().receive_bytes(session, data, now)
        if session.SessionState in (SessionState.WAITING_EC_MSG, SessionState.WAITING_CP_MSG):
            name, duration_ms = TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms
            self.qm.session_timers.start(session, name, duration_ms, now)


@fault("initiator-initialization-timer-ignored-in-state-waiting-cpr-msg", breaks="MQQB-3.1.6.6-01", blind=True)
class InitiatorInitializationTimerIgnoredInStateWaitingCprMsg(SessionClosing):
    """When the Session Initialization Timer expires, the initiator does not close a session that waits for a
    ConnectionParameters response.
    """

    def on_session_initialization_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is not SessionState.WAITING_CPR_MSG:
            super().on_session_initialization_timer(session, now)


@fault("acceptor-initialization-timer-ignored-in-state-waiting-cp-msg", breaks="MQQB-3.1.6.6-01", blind=True)
class AcceptorInitializationTimerIgnoredInStateWaitingCpMsg(SessionClosing):
    """When the Session Initialization Timer expires, the acceptor does not close a session that waits for a
    ConnectionParameters request.
    """

    def on_session_initialization_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is not SessionState.WAITING_CP_MSG:
            super().on_session_initialization_timer(session, now)


@fault("session-initialization-timer-closes-open-sessions", breaks="MQQB-3.1.6.6-01", blind=True)
class SessionInitializationTimerClosesOpenSessions(SessionClosing):
    """The queue manager closes all open sessions when a Session Initialization Timer expires."""

    def on_session_initialization_timer(self, session: Session, now: Now) -> None:
        super().on_session_initialization_timer(session, now)
        for other in list(self.qm.sessions.values()):
            if other.SessionState is SessionState.OPEN:
                self.close(other, "a fault", now)


@fault("acceptor-initialization-timer-of-second-silent-connection-ignored", breaks="MQQB-3.1.6.6-01", blind=True)
class AcceptorInitializationTimerOfSecondSilentConnectionIgnored(SessionClosing):
    """The acceptor does not close a second connection on which no session is set up in time."""

    def on_session_initialization_timer(self, session: Session, now: Now) -> None:
        others = [one for one in self.qm.closed_sessions if not one.initiator and not one.MessageReceivedCount]
        if session.initiator or not others:
            super().on_session_initialization_timer(session, now)
