"""Faults that break rules of MS-MQQB 2.2.3 EstablishConnection Packet, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session


@fault("initiator-closes-session-if-establish-response-has-x13-set", breaks="MQQB-2.2.3.1-11", blind=True)
class InitiatorClosesSessionIfEstablishResponseHasX13Set(SessionOpening):
    """The initiator closes the session if X13 of OperatingSystem is set in the EstablishConnection response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.EstablishConnectionHeader.X13
