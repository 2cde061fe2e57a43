"""Faults that break rules of MS-MQQB 3.1.5.3.1 Request Packet."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.fields import (
    add_to_field,
    clear_bits,
    invert_bits,
    limit_to_sender_role,
    set_bits,
    set_field_value,
    set_reserved_bits,
)
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    NULL_GUID,
    PT_CONNECTION_PARAMETERS,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-session-remote-qm-guid-zero", breaks="MQQB-3.1.5.3.1-01")
class AcceptorSessionRemoteQmGuidZero(SessionOpening):
    """The acceptor sets RemoteQMGuid of its session to zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        session.RemoteQMGuid = NULL_GUID


@fault("acceptor-remote-qm-guid-zero-in-second-session", breaks="MQQB-3.1.5.3.1-01", blind=True)
class AcceptorRemoteQmGuidZeroInSecondSession(SessionOpening):
    """While another accepted session exists, the acceptor sets RemoteQMGuid of a new session to zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if sum(not one.initiator for one in self.qm.sessions.values()) > 1:
            session.RemoteQMGuid = NULL_GUID


_first_client_guid_by_queue_manager: WeakKeyDictionary[QueueManager, UUID] = WeakKeyDictionary()


@fault("acceptor-remote-guid-of-first-session-kept", breaks="MQQB-3.1.5.3.1-01", blind=True)
class AcceptorRemoteGuidOfFirstSessionKept(SessionOpening):
    """The acceptor sets RemoteQMGuid of every accepted session to the ClientGuid of the first accepted request."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        session.RemoteQMGuid = _first_client_guid_by_queue_manager.setdefault(self.qm, session.RemoteQMGuid)


add(
    "acceptor-establish-connection-response-not-sent",
    ("MQQB-3.1.5.3.1-02", "MQQB-3.1.5.3.1-D02"),
    "The acceptor sends no EstablishConnection response.",
    omit_step_during(SessionOpening.receive_establish_request, SessionConnecting.send),
)


@fault("acceptor-request-with-time-stamp-0-not-answered", breaks="MQQB-3.1.5.3.1-02", blind=True)
class AcceptorRequestWithTimeStamp0NotAnswered(SessionOpening):
    """The acceptor does not answer an EstablishConnection request whose TimeStamp is zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if packet.EstablishConnectionHeader.TimeStamp:
            super().receive_establish_request(session, packet, now)


for _name, _rules, _says, _install in (
    (
        "acceptor-establish-connection-in-bit-clear",
        "MQQB-3.1.5.3.1-03",
        "The acceptor's EstablishConnection response has BaseHeader.Flags.IN clear.",
        clear_bits(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "acceptor-establish-connection-pt-3",
        "MQQB-3.1.5.3.1-04",
        "The acceptor's EstablishConnection response has PT 3.",
        set_field_value(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "acceptor-establish-connection-cs-always-set",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"),
        "The acceptor's EstablishConnection response always has CS set.",
        set_bits(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-establish-connection-cs-always-clear",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"),
        "The acceptor's EstablishConnection response always has CS clear.",
        clear_bits(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-establish-connection-client-guid-wrong",
        "MQQB-3.1.5.3.1-08",
        "The acceptor's EstablishConnection response has a ClientGuid other than the ClientGuid of the request.",
        set_field_value(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", MADE_UP_GUID),
    ),
    (
        "acceptor-establish-connection-server-guid-wrong",
        "MQQB-3.1.5.3.1-09",
        "The acceptor's EstablishConnection response has a ServerGuid other than the acceptor's Identifier.",
        set_field_value(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", MADE_UP_GUID),
    ),
    (
        "acceptor-establish-connection-timestamp-one-more",
        "MQQB-3.1.5.3.1-10",
        "The acceptor's EstablishConnection response has the TimeStamp of the request plus one.",
        add_to_field(EstablishConnectionPacket, "EstablishConnectionHeader.TimeStamp", +1),
    ),
    (
        "acceptor-establish-connection-se-opposite",
        "MQQB-3.1.5.3.1-11",
        "The acceptor's EstablishConnection response inverts the SE of the request.",
        invert_bits(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "acceptor-establish-connection-reserved-0xffff",
        "MQQB-3.1.5.3.1-12",
        "The acceptor's EstablishConnection response has Reserved 0xFFFF.",
        set_reserved_bits(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, limit_to_sender_role("acceptor", _install))


@fault("acceptor-request-server-guid-compared-by-4-bytes", breaks="MQQB-3.1.5.3.1-05", blind=True)
class AcceptorRequestServerGuidComparedBy4Bytes(SessionOpening):
    """The acceptor compares only the first four bytes of ServerGuid in a request."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        asked = packet.EstablishConnectionHeader.ServerGuid
        return asked == NULL_GUID or asked.fields[0] == self.qm.adm.Identifier.fields[0]


@fault("acceptor-server-guid-compared-by-first-8-bytes", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"), blind=True)
class AcceptorServerGuidComparedByFirst8Bytes(SessionOpening):
    """The acceptor accepts a request whose ServerGuid equals its Identifier only in the first 8 bytes."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        wanted = packet.EstablishConnectionHeader.ServerGuid.bytes_le[:8]
        return wanted == self.qm.adm.Identifier.bytes_le[:8] or super().is_establish_request_valid(packet)


@fault("acceptor-server-guid-compared-in-last-8-bytes", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"), blind=True)
class AcceptorServerGuidComparedInLast8Bytes(SessionOpening):
    """The acceptor compares only the last 8 bytes of ServerGuid with its Identifier."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return guid.bytes[8:] == self.qm.adm.Identifier.bytes[8:] or guid == NULL_GUID


@fault("acceptor-server-guid-compared-in-first-8-bytes", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"), blind=True)
class AcceptorServerGuidComparedInFirst8Bytes(SessionOpening):
    """The acceptor compares only the first 8 bytes of ServerGuid with its Identifier."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return guid.bytes[:8] == self.qm.adm.Identifier.bytes[:8] or guid == NULL_GUID


@fault("acceptor-second-session-of-same-client-refused", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"), blind=True)
class AcceptorSecondSessionOfSameClientRefused(SessionOpening):
    """The acceptor sets CS in its response when a session with the same ClientGuid is open."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        client = packet.EstablishConnectionHeader.ClientGuid
        known = [one for one in self.qm.sessions.values() if one.RemoteQMGuid == client and not one.initiator]
        return super().is_establish_request_valid(packet) and not any(
            one.SessionState is SessionState.OPEN for one in known
        )


@fault("acceptor-second-session-of-initiator-refused", breaks="MQQB-3.1.5.3.1-06", blind=True)
class AcceptorSecondSessionOfInitiatorRefused(SessionOpening):
    """The acceptor sets CS in the response to a valid request from a queue manager that already has an open session."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ClientGuid
        known = sum(not one.initiator and one.RemoteQMGuid == guid for one in self.qm.sessions.values())
        return super().is_establish_request_valid(packet) and known < 2


@fault("acceptor-refuses-establish-request-with-own-guid-and-qs-set", breaks="MQQB-3.1.5.3.1-06", blind=True)
class AcceptorRefusesEstablishRequestWithOwnGuidAndQsSet(SessionOpening):
    """The acceptor sets CS in the response to a request with the acceptor's GUID and the flag QS set."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        return super().is_establish_request_valid(packet) and not (header.ServerGuid != NULL_GUID and header.QS)


@fault("acceptor-refuses-establish-request-with-own-guid-and-se-1", breaks="MQQB-3.1.5.3.1-06", blind=True)
class AcceptorRefusesEstablishRequestWithOwnGuidAndSe1(SessionOpening):
    """The acceptor sets CS in the response to a request with the acceptor's GUID and SE 1."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        return super().is_establish_request_valid(packet) and not (header.ServerGuid != NULL_GUID and header.SE)


@fault("acceptor-last-byte-of-server-guid-not-compared", breaks="MQQB-3.1.5.3.1-07", blind=True)
class AcceptorLastByteOfServerGuidNotCompared(SessionOpening):
    """The acceptor does not compare the last byte of ServerGuid with the acceptor's Identifier."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return super().is_establish_request_valid(packet) or guid.bytes[:15] == self.qm.adm.Identifier.bytes[:15]


@fault("acceptor-server-guid-compared-in-first-four-bytes", breaks="MQQB-3.1.5.3.1-07", blind=True)
class AcceptorServerGuidComparedInFirstFourBytes(SessionOpening):
    """The acceptor compares only the first four bytes of ServerGuid with the acceptor's Identifier."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        guid = packet.EstablishConnectionHeader.ServerGuid
        return super().is_establish_request_valid(packet) or guid.bytes[:4] == self.qm.adm.Identifier.bytes[:4]


@fault("acceptor-refused-request-closes-open-session", breaks="MQQB-3.1.5.3.1-07", blind=True)
class AcceptorRefusedRequestClosesOpenSession(SessionOpening):
    """When the acceptor refuses a request, it also closes the open sessions of the same initiator."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.was_session_refused:
            for other in list(self.qm.sessions.values()):
                if other is not session and not other.initiator and other.RemoteQMGuid == session.RemoteQMGuid:
                    self.qm.session_closing.close(other, "a fault", now)


@fault("acceptor-every-response-has-client-guid-of-first-request", breaks="MQQB-3.1.5.3.1-08", blind=True)
class AcceptorEveryResponseHasClientGuidOfFirstRequest(SessionOpening):
    """The acceptor's EstablishConnection response has the ClientGuid of the first request that it ever received."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: UUID | None = None

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        self._first = self._first or request.EstablishConnectionHeader.ClientGuid
        return replace(
            response, EstablishConnectionHeader=replace(response.EstablishConnectionHeader, ClientGuid=self._first)
        )


ESTABLISH_HEADER_NAME = "EstablishConnectionHeader"


@fault("acceptor-every-response-has-client-guid-of-oldest-session", breaks="MQQB-3.1.5.3.1-08", blind=True)
class AcceptorEveryResponseHasClientGuidOfOldestSession(SessionOpening):
    """The acceptor sends the ClientGuid of its oldest accepted session in every EstablishConnection response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        first = next(one for one in self.qm.sessions.values() if not one.initiator)
        packet = super().build_establish_response(session, request)
        return set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.ClientGuid": first.RemoteQMGuid})


@fault("acceptor-response-repeats-zero-server-guid-of-request", breaks="MQQB-3.1.5.3.1-09", blind=True)
class AcceptorResponseRepeatsZeroServerGuidOfRequest(SessionOpening):
    """The acceptor repeats the ServerGuid of the request in its response, even if this ServerGuid is zero."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        return set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.ServerGuid": request.EstablishConnectionHeader.ServerGuid})


@fault("acceptor-establish-response-time-stamp-lacks-highest-bit", breaks="MQQB-3.1.5.3.1-10", blind=True)
class AcceptorEstablishResponseTimeStampLacksHighestBit(SessionOpening):
    """The acceptor's EstablishConnection response has the TimeStamp of the request without its highest bit."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        header = response.EstablishConnectionHeader
        return replace(response, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp & 0x7FFFFFFF))


@fault("acceptor-every-response-has-time-stamp-of-first-request", breaks="MQQB-3.1.5.3.1-10", blind=True)
class AcceptorEveryResponseHasTimeStampOfFirstRequest(SessionOpening):
    """The acceptor sends the TimeStamp of the first EstablishConnection request in every
    EstablishConnection response.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        first = self.__dict__.setdefault("first", request.EstablishConnectionHeader.TimeStamp)
        return set_fields(
            super().build_establish_response(session, request), {f"{ESTABLISH_HEADER_NAME}.TimeStamp": first}
        )


class _EstablishResponseFault(SessionOpening):
    def answer(
        self, request: EstablishConnectionPacket, response: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        raise NotImplementedError

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        return self.answer(request, super().build_establish_response(session, request))


@fault("acceptor-response-time-stamp-without-highest-bit", breaks="MQQB-3.1.5.3.1-10", blind=True)
class AcceptorResponseTimeStampWithoutHighestBit(_EstablishResponseFault):
    """The acceptor clears the highest bit of the TimeStamp in its response."""

    def answer(
        self, request: EstablishConnectionPacket, response: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        return set_fields(response, {"EstablishConnectionHeader.TimeStamp": lambda old: old & 0x7FFFFFFF})


@fault("acceptor-response-time-stamp-0-replaced", breaks="MQQB-3.1.5.3.1-10", blind=True)
class AcceptorResponseTimeStamp0Replaced(_EstablishResponseFault):
    """The acceptor answers a request whose TimeStamp is 0 with TimeStamp 1."""

    def answer(
        self, request: EstablishConnectionPacket, response: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        return set_fields(response, {"EstablishConnectionHeader.TimeStamp": lambda old: old or 1})


_SESSION_FLAG_SE = 0x100


_first_se_flag_by_queue_manager: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("acceptor-se-of-first-request-in-every-response", breaks="MQQB-3.1.5.3.1-11", blind=True)
class AcceptorSeOfFirstRequestInEveryResponse(_EstablishResponseFault):
    """The acceptor sends the SE of the first request in every EstablishConnection response."""

    def answer(
        self, request: EstablishConnectionPacket, response: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        first = _first_se_flag_by_queue_manager.setdefault(self.qm, response.EstablishConnectionHeader.SE)
        bits = response.EstablishConnectionHeader.OperatingSystem
        probe = set_fields(response, {"EstablishConnectionHeader.OperatingSystem": bits ^ _SESSION_FLAG_SE})
        return response if first == response.EstablishConnectionHeader.SE else probe


@fault("acceptor-padding-zero-in-refusal", breaks="MQQB-3.1.5.3.1-12", blind=True)
class AcceptorPaddingZeroInRefusal(_EstablishResponseFault):
    """The acceptor fills Padding of a response with CS set with zeros."""

    def answer(
        self, request: EstablishConnectionPacket, response: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        if response.InternalHeader.CS:
            return set_fields(response, {"EstablishConnectionHeader.Padding": bytes(512)})
        return response


@fault("acceptor-session-state-waiting-ec-msg-after-response", breaks="MQQB-3.1.5.3.1-13")
class AcceptorSessionStateWaitingEcMsgAfterResponse(SessionOpening):
    """The acceptor sets the state of its session to WAITING_EC_MSG instead of WAITING_CP_MSG after its response."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.SessionState is SessionState.WAITING_CP_MSG:
            session.SessionState = SessionState.WAITING_EC_MSG


@fault("acceptor-late-parameters-request-refused", breaks="MQQB-3.1.5.3.1-13", blind=True)
class AcceptorLateParametersRequestRefused(SessionOpening):
    """The acceptor closes the session if the ConnectionParameters request arrives more than two seconds after the
    EstablishConnection response.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        self.__dict__.setdefault("since", {})[session.number] = now.monotonic_ms
        super().receive_establish_request(session, packet, now)

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if now.monotonic_ms - self.__dict__["since"][session.number] > 2_000:
            self.qm.session_closing.close(session, "a fault", now)
            return
        super().receive_parameters_request(session, packet, now)


@fault("acceptor-ignores-request-while-other-connection-is-silent", breaks="MQQB-3.1.5.3.1-D02", blind=True)
class AcceptorIgnoresRequestWhileOtherConnectionIsSilent(SessionOpening):
    """The acceptor does not answer a request while it still waits for the request of another connection."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        waiting = sum(
            one.SessionState is session.SessionState and not one.initiator for one in self.qm.sessions.values()
        )
        if waiting < 2:
            super().receive_establish_request(session, packet, now)


add(
    "acceptor-refused-session-connection-kept-open",
    "MQQB-3.1.5.3.1-D01",
    "The acceptor keeps open the connection of a session that exceeds its limit of sessions.",
    omit_step_during(SessionOpening.receive_establish_request, SessionClosing.close),
)
