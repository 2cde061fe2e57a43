"""Faults of MS-MQQB 2.2.7 Ping Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import pings, set_fields
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-ping-response-with-bit-15-ignored", breaks="MQQB-2.2.7-01", blind=True)
class InitiatorPingResponseWithBit15Ignored(Ping):
    """The initiator ignores a Ping Response with bit 15 of Flags set."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if not response.Flags & 0x8000:
            super().response_processed(session, response, now)


@fault("initiator-ping-response-with-bit-2-taken-as-refusal", breaks="MQQB-2.2.7-01", blind=True)
class InitiatorPingResponseWithBit2TakenAsRefusal(Ping):
    """The initiator treats a Ping Response with bit 2 of Flags set as a refusal."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.Flags & 4:
            response = set_fields(response, {"Flags": lambda old: old | 2})
        super().response_processed(session, response, now)


@fault("acceptor-ping-request-with-bit-9-refused", breaks="MQQB-2.2.7-01", blind=True)
class AcceptorPingRequestWithBit9Refused(Ping):
    """The acceptor sets RF in the response to a Ping Request with bit 9 of Flags set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return set_fields(response, {"Flags": lambda old: old | 2}) if request.Flags & 0x200 else response


@fault("initiator-rf-set-in-second-ping-request", breaks="MQQB-2.2.7-05", blind=True)
class InitiatorRfSetInSecondPingRequest(Ping):
    """The initiator sets RF in each Ping Request whose Cookie is even."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return set_fields(request, {"Flags": lambda old: old | 2}) if request.Cookie % 2 == 0 else request


def _swap_signature(packet: PingPacket) -> bytes:
    data = packet.build()
    return data[:2] + data[3:1:-1] + data[4:]


add(
    "acceptor-signature-of-refusing-ping-response-swapped",
    "MQQB-2.2.7-20",
    "The acceptor sends a Ping Response with RF set whose Signature is in big-endian order.",
    pings(_swap_signature, lambda packet: bool(packet.RF)),
    blind=True,
)
add(
    "acceptor-refusing-ping-response-of-23-bytes",
    "MQQB-2.2.7-D01",
    "The acceptor sends a Ping Response with RF set that has 23 bytes.",
    pings(lambda packet: packet.build()[:23], lambda packet: bool(packet.RF)),
    blind=True,
)


@fault("acceptor-rf-in-bit-2", breaks="MQQB-2.2.7-D01", blind=True)
class AcceptorRfInBit2(Ping):
    """The acceptor sends the flag RF of a Ping Response in bit 2 instead of bit 1."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return set_fields(response, {"Flags": lambda old: old & 1 | (old & 2) << 1})
