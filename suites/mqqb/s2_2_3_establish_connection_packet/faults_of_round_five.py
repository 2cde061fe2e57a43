"""Faults of the fifth round that break rules of MS-MQQB 2.2.3 EstablishConnection Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, set_packet_type
from reference_qm.codec import EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session


@fault("acceptor-establish-connection-bit-x15-read-as-server", breaks="MQQB-2.2.3.1-13", blind=True)
class AcceptorEstablishConnectionBitX15ReadAsServer(SessionOpening):
    """The acceptor takes an initiator with bit X15 of OperatingSystem set for a server, and sets the bit OS in its
    response, although OS is clear in the request.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if not request.EstablishConnectionHeader.X15:
            return response
        flags = response.EstablishConnectionHeader.OperatingSystem | EstablishConnectionHeader.flags(OS=1)
        return set_fields(response, {"EstablishConnectionHeader.OperatingSystem": flags})


def _is_offline(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.was_session_refused and not qm.session_connecting.may_connect()


add(
    "acceptor-establish-connection-packet-type-0-in-refusal-while-offline",
    "MQQB-2.2.3-02",
    "The acceptor sends PT 0 in the EstablishConnection response with which it refuses a session because it is "
    "offline.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(0), _is_offline),
    blind=True,
)
