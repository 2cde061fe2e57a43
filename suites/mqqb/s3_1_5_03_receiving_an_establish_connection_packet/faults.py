"""Faults of MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket, Packet
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("establish-out-of-turn-tolerated", breaks="MQQB-3.1.5.3-01")
class EstablishOutOfTurnTolerated(Closing):
    """An EstablishConnection out of turn is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, EstablishConnectionPacket):
            super().refuse_out_of_state(session, packet, now)
