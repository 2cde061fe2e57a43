"""Faults of MS-MQQB 3.1.5.4.2 Response Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.resolving import format_next_hop
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault(
    "initiator-next-hops-names-first-address-of-open-session",
    breaks=("MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-05"),
    blind=True,
)
class InitiatorNextHopsNamesFirstAddressOfOpenSession(SessionOpening):
    """When a session opens with the second next hop, the initiator puts the address of the first next hop into
    NextHops.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            outgoing_queue(session).NextHops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


@fault("initiator-queue-paused-during-handshake-connected", breaks="MQQB-3.1.5.4.2-09", blind=True)
class InitiatorQueuePausedDuringHandshakeConnected(SessionOpening):
    """If an outgoing queue is paused during the handshake, the initiator nevertheless sets State of this queue to
    Connected.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        queue = outgoing_queue(session)
        if session.SessionState is SessionState.OPEN and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED
