"""Faults of MS-MQQB 2.2.3, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    EstablishConnectionPacket,
)
from reference_qm.core.sessions.session_opening import (
    SessionOpening,
)
from reference_qm.model.adm import Session


@fault("acceptor-establish-connection-reserved-copied-from-request", breaks="MQQB-2.2.3.1-14", blind=True)
class AcceptorEstablishConnectionReservedCopiedFromRequest(SessionOpening):
    """The acceptor copies Reserved of an EstablishConnection request to its response instead of sending zero."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        reserved = request.EstablishConnectionHeader.Reserved
        return set_fields(response, {"EstablishConnectionHeader.Reserved": reserved})


@fault("initiator-establish-connection-response-x14-set-refused", breaks="MQQB-2.2.3.1-12", blind=True)
class InitiatorEstablishConnectionResponseX14SetRefused(SessionOpening):
    """The initiator refuses an EstablishConnection response in which the unused bit X14 is set."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.EstablishConnectionHeader.X14
