"""Blind violations of round five: MS-MQQB 3.1.2 Timers."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault(
    "acceptor-initialization-timer-stopped-by-unfinished-connection-parameters", breaks="MQQB-3.1.2.1-D01", blind=True
)
class AcceptorInitializationTimerStoppedByUnfinishedConnectionParameters(Identifying):
    """The acceptor stops the Session Initialization Timer at the first bytes of a ConnectionParameters packet, although
    the rest of the packet is missing.
    """

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        super().receive_bytes(session, data, now)
        if session.SessionState is SessionState.WAITING_CP_MSG and session.framer.unfinished_packet_bytes:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
