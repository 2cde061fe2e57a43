"""Faults that break rules of MS-MQQB 3.1.5.4.2 Response Packet, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("initiator-initialization-timer-not-stopped-for-paused-queue", breaks="MQQB-3.1.5.4.2-06", blind=True)
class InitiatorInitializationTimerNotStoppedForPausedQueue(SessionOpening):
    """The initiator does not stop its Session Initialization Timer at the ConnectionParameters response if its outgoing
    queue is OnHold.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        super().receive_parameters_response(session, packet, now)
        paused = get_outgoing_queue(session).State is OutgoingQueueState.ON_HOLD
        if paused and left_ms is not None and session.SessionState is SessionState.OPEN:
            self.qm.timers.start(key, now.monotonic_ms, left_ms)
