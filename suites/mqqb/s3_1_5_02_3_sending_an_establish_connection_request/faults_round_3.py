"""Faults that break rules of MS-MQQB 3.1.5.2.3."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-establish-request-of-retry-se-0-without-ping", breaks="MQQB-3.1.5.2.3-11", blind=True)
class InitiatorEstablishRequestOfRetrySe0WithoutPing(Establishing):
    """The initiator clears SE in the EstablishConnection request of a retry, although no Ping Request was sent before
    the request.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = request.EstablishConnectionHeader
        if not session.retrying:
            return request
        system = header.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        return replace(request, EstablishConnectionHeader=replace(header, OperatingSystem=system))
