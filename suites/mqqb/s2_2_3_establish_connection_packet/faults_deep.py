"""Faults of MS-MQQB 2.2.3 EstablishConnection Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

HEADER = "EstablishConnectionHeader"


@fault("initiator-os-flag-of-retry-clear", breaks="MQQB-2.2.3.1-07", blind=True)
class InitiatorOsFlagOfRetryClear(Establishing):
    """The initiator inverts the flag OS in its EstablishConnection request when it connects again after a failure."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return (
            set_fields(packet, {f"{HEADER}.OperatingSystem": lambda old: old ^ 0x200}) if session.retrying else packet
        )


@fault("acceptor-padding-of-refusal-zero", breaks="MQQB-2.2.3.1-15", blind=True)
class AcceptorPaddingOfRefusalZero(SessionOpening):
    """The acceptor fills Padding with zero bytes in a response with CS set."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        return set_fields(packet, {f"{HEADER}.Padding": bytes(512)}) if session.refused else packet


@fault("acceptor-server-guid-of-second-response-zero", breaks="MQQB-2.2.3.1-02", blind=True)
class AcceptorServerGuidOfSecondResponseZero(SessionOpening):
    """On a second connection, the acceptor repeats the ServerGuid of the request in its response, even if this
    ServerGuid is zero.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if sum(not one.initiator for one in self.qm.sessions.values()) < 2:
            return packet
        return set_fields(packet, {f"{HEADER}.ServerGuid": request.EstablishConnectionHeader.ServerGuid})


def _refuse_response(mask: int) -> type[SessionOpening]:
    class ResponseRefused(SessionOpening):
        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            bits = packet.EstablishConnectionHeader.OperatingSystem & mask
            return super().is_establish_response_valid(session, packet) and not bits

    return ResponseRefused


def _refuse_request(mask: int) -> type[SessionOpening]:
    class RequestRefused(SessionOpening):
        def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
            bits = packet.EstablishConnectionHeader.OperatingSystem & mask
            return super().is_establish_request_valid(packet) and not bits

    return RequestRefused


_RULES = ("MQQB-2.2.3.1-09", "MQQB-2.2.3.1-10", "MQQB-2.2.3.1-11", "MQQB-2.2.3.1-12", "MQQB-2.2.3.1-13")

for bit, rule in enumerate(_RULES, 11):
    if bit % 2:
        add(
            f"initiator-establish-response-with-os-bit-x{bit}-refused",
            rule,
            f"The initiator closes the session after a response with X{bit} set in OperatingSystem.",
            replace_part(_refuse_response(1 << bit)),
            blind=True,
        )
    else:
        add(
            f"acceptor-establish-request-with-os-bit-x{bit}-refused",
            rule,
            f"The acceptor sets CS in the response to a request with X{bit} set in OperatingSystem.",
            replace_part(_refuse_request(1 << bit)),
            blind=True,
        )


@fault("initiator-response-with-reserved-refused", breaks="MQQB-2.2.3.1-14", blind=True)
class InitiatorResponseWithReservedRefused(SessionOpening):
    """The initiator closes the session after a response whose Reserved is 0xFFFF."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        reserved = packet.EstablishConnectionHeader.Reserved
        return super().is_establish_response_valid(session, packet) and reserved != 0xFFFF
