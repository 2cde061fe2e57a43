"""Faults that break rules of MS-MQQB 2.2.3 EstablishConnection Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session


@fault("initiator-establish-connection-response-x14-refused", breaks="MQQB-2.2.3.1-12", blind=True)
class InitiatorEstablishConnectionResponseX14Refused(SessionOpening):
    """The initiator treats an EstablishConnection response with X14 set in OperatingSystem as invalid."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.EstablishConnectionHeader.X14
