"""Faults of the fifth round that break rules of MS-MQQB 2.1.1 Protocol Session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted


@fault("acceptor-connection-from-computer-with-outgoing-session-closed", breaks="MQQB-2.1.1-03", blind=True)
class AcceptorConnectionFromComputerWithOutgoingSessionClosed(SessionOpening):
    """The acceptor closes a connection at once if it has itself opened a session to the computer of the initiator."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        earlier = list(self.qm.sessions.values())
        super().accept_transport(event, now)
        if any(
            one.initiator and one.SessionState is SessionState.OPEN and one.RemoteQMAddress == event.remote.host
            for one in earlier
        ):
            self.qm.session_closing.close(self.qm.transports[event.transport], "a session to the computer is open", now)
