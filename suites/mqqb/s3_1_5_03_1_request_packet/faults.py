"""Faults of MS-MQQB 3.1.5.3.1 Request Packet (of EstablishConnection)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.fields import bit_clear, bit_inverted, bit_set, field_is, off_by, reserved_bits_set, sent_as
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, PT_CONNECTION_PARAMETERS, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

for _name, _rules, _says, _install in (
    (
        "establish-response-not-internal",
        "MQQB-3.1.5.3.1-03",
        "The response has BaseHeader.Flags.IN clear.",
        bit_clear(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "establish-response-other-type",
        "MQQB-3.1.5.3.1-04",
        "The response has the PT of another packet.",
        field_is(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "establish-response-refuses-all",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"),
        "CS is always set.",
        bit_set(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "establish-response-refuses-nobody",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"),
        "CS is never set.",
        bit_clear(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "establish-response-client",
        "MQQB-3.1.5.3.1-08",
        "ClientGuid is made up.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", OTHER_GUID),
    ),
    (
        "establish-response-server",
        "MQQB-3.1.5.3.1-09",
        "ServerGuid is made up.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", OTHER_GUID),
    ),
    (
        "establish-response-timestamp",
        "MQQB-3.1.5.3.1-10",
        "TimeStamp is one more than asked.",
        off_by(EstablishConnectionPacket, "EstablishConnectionHeader.TimeStamp", +1),
    ),
    (
        "establish-response-session-flag",
        "MQQB-3.1.5.3.1-11",
        "SE is the opposite of the request's.",
        bit_inverted(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "establish-response-reserved",
        "MQQB-3.1.5.3.1-12",
        "Reserved is 0xFFFF.",
        reserved_bits_set(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, sent_as("acceptor", _install))
add(
    "establish-response-unsent",
    ("MQQB-3.1.5.3.1-02", "MQQB-3.1.5.3.1-D02"),
    "It is never sent.",
    skip_during(SessionOpening.receive_establish_request, Connecting.send),
)


@fault("remote-guid-of-acceptor", breaks="MQQB-3.1.5.3.1-01")
class RemoteGuidOfAcceptor(SessionOpening):
    """RemoteQMGuid of an accepted session is zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        session.RemoteQMGuid = NULL_GUID


@fault("state-after-response-waiting-ec-msg", breaks="MQQB-3.1.5.3.1-13")
class StateAfterResponse(SessionOpening):
    """SessionState is WAITING_EC_MSG where it is to be WAITING_CP_MSG."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.SessionState is SessionState.WAITING_CP_MSG:
            session.SessionState = SessionState.WAITING_EC_MSG


# -- a session too many --------------------------------------------------------------------------------------------


add(
    "session-too-many-refused-but-open",
    "MQQB-3.1.5.3.1-D01",
    "The connection of a session beyond the limit stays open.",
    skip_during(SessionOpening.receive_establish_request, Closing.close),
)


@fault("server-guid-compared-by-its-first-part", breaks="MQQB-3.1.5.3.1-05", blind=True)
class ServerGuidComparedByItsFirstPart(SessionOpening):
    """Only the first four bytes of the ServerGuid of a request are compared."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        asked = packet.EstablishConnectionHeader.ServerGuid
        return asked == NULL_GUID or asked.fields[0] == self.qm.adm.Identifier.fields[0]


@fault("client-guid-of-the-session-before", breaks="MQQB-3.1.5.3.1-08", blind=True)
class ClientGuidOfTheSessionBefore(SessionOpening):
    """A response repeats the ClientGuid of the first request that ever came."""

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


@fault("timestamp-loses-its-highest-bit", breaks="MQQB-3.1.5.3.1-10", blind=True)
class TimestampLosesItsHighestBit(SessionOpening):
    """A TimeStamp is kept as a signed number: its highest bit is lost."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        header = response.EstablishConnectionHeader
        return replace(response, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp & 0x7FFFFFFF))
