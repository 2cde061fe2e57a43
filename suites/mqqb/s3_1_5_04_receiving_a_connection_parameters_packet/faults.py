"""Faults of MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_states import ignore_out_of_state
from reference_qm.codec import ConnectionParametersPacket, Packet
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("parameters-out-of-turn-tolerated", breaks="MQQB-3.1.5.4-01")
class ParametersOutOfTurnTolerated(Closing):
    """ConnectionParameters out of turn are ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, ConnectionParametersPacket):
            super().refuse_out_of_state(session, packet, now)


add(
    "connection-parameters-ignored-by-an-open-initiator",
    "MQQB-3.1.5.4-01",
    "An initiator whose session is open ignores ConnectionParameters.",
    ignore_out_of_state(ConnectionParametersPacket, SessionState.OPEN, initiator=True),
    blind=True,
)
