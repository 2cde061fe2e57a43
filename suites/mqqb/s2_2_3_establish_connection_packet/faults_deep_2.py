"""Faults of MS-MQQB 2.2.3 EstablishConnection Packet that occur only in responses, refusals or later requests."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import field_is, sent_as
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

UNUSED_BITS = {
    "X11": "MQQB-2.2.3.1-09",
    "X12": "MQQB-2.2.3.1-10",
    "X13": "MQQB-2.2.3.1-11",
    "X14": "MQQB-2.2.3.1-12",
    "X15": "MQQB-2.2.3.1-13",
}


def _change_header(packet: EstablishConnectionPacket, **values: object) -> EstablishConnectionPacket:
    return replace(packet, EstablishConnectionHeader=replace(packet.EstablishConnectionHeader, **values))  # type: ignore[arg-type]


@fault("initiator-establish-request-zero-server-guid-on-retry", breaks="MQQB-2.2.3.1-01")
class InitiatorEstablishRequestZeroServerGuidOnRetry(Establishing):
    """The initiator sends a zero ServerGuid for a private format name when it connects again after a failure."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        return _change_header(request, ServerGuid=NULL_GUID) if session.retrying else request


@fault("initiator-direct-establish-request-server-guid-of-earlier-session", breaks="MQQB-2.2.3.1-01")
class InitiatorDirectEstablishRequestServerGuidOfEarlierSession(Establishing):
    """The initiator sends its own GUID as ServerGuid of a request for a direct format name after the first session to
    the destination has been closed.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        again = session.direct and session.retrying
        return _change_header(request, ServerGuid=self.qm.adm.Identifier) if again else request


@fault("acceptor-establish-response-zero-server-guid-repeated", breaks="MQQB-2.2.3.1-02")
class AcceptorEstablishResponseZeroServerGuidRepeated(SessionOpening):
    """The acceptor repeats a zero ServerGuid of the request in its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        return _change_header(response, ServerGuid=request.EstablishConnectionHeader.ServerGuid)


@fault("initiator-establish-request-se-clear-on-retry-without-ping", breaks="MQQB-2.2.3.1-05")
class InitiatorEstablishRequestSeClearOnRetryWithoutPing(Establishing):
    """The initiator clears SE in a request without a Ping Request if it sent a Ping Request before an earlier attempt
    to open the session.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        system = request.EstablishConnectionHeader.OperatingSystem
        clear = session.retrying and self.qm.config.send_ping
        return (
            _change_header(request, OperatingSystem=system & ~EstablishConnectionHeader.flags(SE=1))
            if clear
            else request
        )


@fault("acceptor-establish-response-se-is-os-of-request", breaks="MQQB-2.2.3.1-06")
class AcceptorEstablishResponseSeIsOsOfRequest(SessionOpening):
    """The acceptor sends the OS flag of the request as SE of its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        rest = response.EstablishConnectionHeader.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        system = rest | EstablishConnectionHeader.flags(SE=request.EstablishConnectionHeader.OS)
        return _change_header(response, OperatingSystem=system)


@fault("acceptor-refusing-establish-response-se-clear", breaks="MQQB-2.2.3.1-06")
class AcceptorRefusingEstablishResponseSeClear(SessionOpening):
    """The acceptor clears SE in a response that refuses the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        rest = response.EstablishConnectionHeader.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        return _change_header(response, OperatingSystem=rest) if session.refused else response


def _add_refusal_of_response(bit: str, rule: str) -> None:
    mask = EstablishConnectionHeader.flags(**{bit: 1})

    @fault(f"initiator-establish-response-{bit.lower()}-refused", breaks=rule)
    class ResponseRefused(SessionOpening):
        __doc__ = f"The initiator refuses an EstablishConnection response in which {bit} is set."

        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            system = packet.EstablishConnectionHeader.OperatingSystem
            return not system & mask and super().is_establish_response_valid(session, packet)


for _bit, _rule in UNUSED_BITS.items():
    _add_refusal_of_response(_bit, _rule)


@fault("acceptor-establish-response-reserved-of-request-repeated", breaks="MQQB-2.2.3.1-14")
class AcceptorEstablishResponseReservedOfRequestRepeated(SessionOpening):
    """The acceptor repeats Reserved of the EstablishConnection request in its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        return _change_header(response, Reserved=request.EstablishConnectionHeader.Reserved)


@fault("initiator-establish-response-reserved-refused", breaks="MQQB-2.2.3.1-14")
class InitiatorEstablishResponseReservedRefused(SessionOpening):
    """The initiator refuses an EstablishConnection response whose Reserved is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        reserved = packet.EstablishConnectionHeader.Reserved
        return not reserved and super().is_establish_response_valid(session, packet)


@fault("acceptor-refusing-establish-response-padding-of-request", breaks="MQQB-2.2.3.1-15")
class AcceptorRefusingEstablishResponsePaddingOfRequest(SessionOpening):
    """The acceptor repeats Padding of the request in a response that refuses the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        padding = request.EstablishConnectionHeader.Padding
        return _change_header(response, Padding=padding) if session.refused else response


@fault("acceptor-establish-response-padding-of-request", breaks="MQQB-2.2.3.1-15")
class AcceptorEstablishResponsePaddingOfRequest(SessionOpening):
    """The acceptor repeats Padding of the request in a response that accepts the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        padding = request.EstablishConnectionHeader.Padding
        return response if session.refused else _change_header(response, Padding=padding)


add(
    "acceptor-establish-response-re-0",
    "MQQB-2.2.3.1-04",
    "The acceptor sends RE 0 in a response that refuses the request.",
    sent_as(
        "acceptor",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.RE", 0, lambda packet: packet.InternalHeader.CS),
    ),
)
