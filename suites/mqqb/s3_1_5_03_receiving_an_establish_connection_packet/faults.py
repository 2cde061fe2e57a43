"""Faults of MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_states import ignore_out_of_state
from reference_qm.codec import EstablishConnectionPacket, Packet
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("establish-out-of-turn-tolerated", breaks="MQQB-3.1.5.3-01")
class EstablishOutOfTurnTolerated(Closing):
    """An EstablishConnection out of turn is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, EstablishConnectionPacket):
            super().refuse_out_of_state(session, packet, now)


add(
    "second-establish-connection-before-the-parameters-ignored",
    "MQQB-3.1.5.3-01",
    "An acceptor that waits for ConnectionParameters ignores another EstablishConnection.",
    ignore_out_of_state(EstablishConnectionPacket, SessionState.WAITING_CP_MSG, initiator=False),
    blind=True,
)


add(
    "establish-connection-ignored-by-an-open-initiator",
    "MQQB-3.1.5.3-01",
    "An initiator whose session is open ignores an EstablishConnection.",
    ignore_out_of_state(EstablishConnectionPacket, SessionState.OPEN, initiator=True),
    blind=True,
)
