"""Faults that break rules of MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted


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
