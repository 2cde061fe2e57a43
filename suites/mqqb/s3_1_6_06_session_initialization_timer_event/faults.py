"""Faults of MS-MQQB 3.1.6.6 Session Initialization Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
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
