"""Faults of MS-MQQB 3.1.5.3.1 Request Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening


@fault("acceptor-server-guid-compared-by-first-8-bytes", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"), blind=True)
class AcceptorServerGuidComparedByFirst8Bytes(SessionOpening):
    """The acceptor accepts a request whose ServerGuid equals its Identifier only in the first 8 bytes."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        wanted = packet.EstablishConnectionHeader.ServerGuid.bytes_le[:8]
        return wanted == self.qm.adm.Identifier.bytes_le[:8] or super().is_establish_request_valid(packet)
