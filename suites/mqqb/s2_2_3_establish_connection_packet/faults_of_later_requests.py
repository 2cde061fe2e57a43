"""Faults in EstablishConnection packets of later sessions and of some requests. Spec: MS-MQQB 2.2.3.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    FormatError,
)
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-server-guid-null-in-request-of-later-session", breaks="MQQB-2.2.3.1-01", blind=True)
class InitiatorServerGuidNullInRequestOfLaterSession(SessionEstablishing):
    """For a private or public format name, the initiator sends ServerGuid zero, instead of the GUID in the name, in the
    request for each session after the first.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        known = self.__dict__.setdefault("known", set())
        later = session.number in known
        known.add(session.number)
        header = replace(packet.EstablishConnectionHeader, ServerGuid=NULL_GUID)
        return replace(packet, EstablishConnectionHeader=header) if later else packet


@fault("initiator-direct-request-repeats-server-guid-of-last-request", breaks="MQQB-2.2.3.1-01", blind=True)
class InitiatorDirectRequestRepeatsServerGuidOfLastRequest(SessionEstablishing):
    """In a request for a direct format name, the initiator sends the ServerGuid of its latest request for any other
    kind of format name.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        header = packet.EstablishConnectionHeader
        if not session.is_destination_direct:
            self.__dict__["last"] = header.ServerGuid
            return packet
        guid = self.__dict__.get("last", header.ServerGuid)
        return replace(packet, EstablishConnectionHeader=replace(header, ServerGuid=guid))


class _EstablishResponseFault(SessionOpening):
    """An acceptor that changes fields of its EstablishConnection response, as a subclass determines."""

    def change_header(
        self, session: Session, response: EstablishConnectionHeader, request: EstablishConnectionHeader
    ) -> EstablishConnectionHeader:
        raise NotImplementedError

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        header = self.change_header(session, packet.EstablishConnectionHeader, request.EstablishConnectionHeader)
        return replace(packet, EstablishConnectionHeader=header)


@fault("acceptor-response-repeats-null-guid-while-session-exists", breaks="MQQB-2.2.3.1-02", blind=True)
class AcceptorResponseRepeatsNullGuidWhileSessionExists(_EstablishResponseFault):
    """While another session with the initiator exists, the acceptor answers a request with ServerGuid zero by a
    response with ServerGuid zero.
    """

    def change_header(
        self, session: Session, response: EstablishConnectionHeader, request: EstablishConnectionHeader
    ) -> EstablishConnectionHeader:
        others = (one for one in self.qm.sessions.values() if one is not session)
        if request.ServerGuid == NULL_GUID and any(one.RemoteQMGuid == request.ClientGuid for one in others):
            return replace(response, ServerGuid=NULL_GUID)
        return response


@fault("acceptor-server-guid-null-in-response-to-request-with-se", breaks="MQQB-2.2.3.1-02", blind=True)
class AcceptorServerGuidNullInResponseToRequestWithSe(_EstablishResponseFault):
    """The acceptor sets ServerGuid of its response to zero when the request has SE set."""

    def change_header(
        self, session: Session, response: EstablishConnectionHeader, request: EstablishConnectionHeader
    ) -> EstablishConnectionHeader:
        return replace(response, ServerGuid=NULL_GUID) if request.SE else response


_SESSION_FLAG_SE = EstablishConnectionHeader.flags(SE=1)


@fault("acceptor-later-responses-repeat-se-of-first-request", breaks="MQQB-2.2.3.1-06", blind=True)
class AcceptorLaterResponsesRepeatSeOfFirstRequest(_EstablishResponseFault):
    """The acceptor sets SE of each response to SE of the first request."""

    def change_header(
        self, session: Session, response: EstablishConnectionHeader, request: EstablishConnectionHeader
    ) -> EstablishConnectionHeader:
        first = self.__dict__.setdefault("first", request.SE)
        return replace(
            response, OperatingSystem=response.OperatingSystem & ~_SESSION_FLAG_SE | (_SESSION_FLAG_SE if first else 0)
        )


@fault("acceptor-se-clear-in-response-to-null-server-guid", breaks="MQQB-2.2.3.1-06", blind=True)
class AcceptorSeClearInResponseToNullServerGuid(_EstablishResponseFault):
    """The acceptor clears SE of its response to a request with ServerGuid zero."""

    def change_header(
        self, session: Session, response: EstablishConnectionHeader, request: EstablishConnectionHeader
    ) -> EstablishConnectionHeader:
        if request.ServerGuid != NULL_GUID:
            return response
        return replace(response, OperatingSystem=response.OperatingSystem & ~_SESSION_FLAG_SE)


def _refuse_establish_response_with_bit(bit: str) -> Install:
    """Return an installer of a fault of an initiator that refuses a response in which a bit is set."""

    class BitRefused(SessionOpening):
        def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
            if getattr(packet.EstablishConnectionHeader, bit):
                error = FormatError(f"OperatingSystem.{bit}", 0, "a fault", f"{bit} is not zero")
                self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            else:
                super().receive_establish_response(session, packet, now)

    return replace_part(BitRefused)


def _refuse_request_with_se_and_other_bit(bit: str) -> Install:
    """Return an installer of a fault of an acceptor that refuses a request in which SE and another bit are set."""

    class BitRefused(SessionOpening):
        def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
            header = packet.EstablishConnectionHeader
            if header.SE and getattr(header, bit):
                error = FormatError(f"OperatingSystem.{bit}", 0, "a fault", f"{bit} is not zero")
                self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            else:
                super().receive_establish_request(session, packet, now)

    return replace_part(BitRefused)


for _rule, _bit in (("MQQB-2.2.3.1-09", "X11"), ("MQQB-2.2.3.1-10", "X12"), ("MQQB-2.2.3.1-11", "X13")):
    add(
        f"initiator-establish-response-with-{_bit.lower()}-refused",
        _rule,
        f"The initiator refuses an EstablishConnection response in which {_bit} of OperatingSystem is set.",
        _refuse_establish_response_with_bit(_bit),
        blind=True,
    )
    add(
        f"acceptor-establish-request-with-se-and-{_bit.lower()}-refused",
        _rule,
        f"The acceptor refuses an EstablishConnection request in which SE and {_bit} of OperatingSystem are set.",
        _refuse_request_with_se_and_other_bit(_bit),
        blind=True,
    )
