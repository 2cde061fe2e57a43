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
        "acceptor-establish-connection-in-bit-clear",
        "MQQB-3.1.5.3.1-03",
        "The acceptor's EstablishConnection response has BaseHeader.Flags.IN clear.",
        bit_clear(EstablishConnectionPacket, "BaseHeader.IN"),
    ),
    (
        "acceptor-establish-connection-pt-3",
        "MQQB-3.1.5.3.1-04",
        "The acceptor's EstablishConnection response has PT 3.",
        field_is(EstablishConnectionPacket, "InternalHeader.PT", PT_CONNECTION_PARAMETERS),
    ),
    (
        "acceptor-establish-connection-cs-always-set",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"),
        "The acceptor's EstablishConnection response always has CS set.",
        bit_set(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-establish-connection-cs-always-clear",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"),
        "The acceptor's EstablishConnection response always has CS clear.",
        bit_clear(EstablishConnectionPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-establish-connection-client-guid-wrong",
        "MQQB-3.1.5.3.1-08",
        "The acceptor's EstablishConnection response has a ClientGuid other than the ClientGuid of the request.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ClientGuid", OTHER_GUID),
    ),
    (
        "acceptor-establish-connection-server-guid-wrong",
        "MQQB-3.1.5.3.1-09",
        "The acceptor's EstablishConnection response has a ServerGuid other than the acceptor's Identifier.",
        field_is(EstablishConnectionPacket, "EstablishConnectionHeader.ServerGuid", OTHER_GUID),
    ),
    (
        "acceptor-establish-connection-timestamp-one-more",
        "MQQB-3.1.5.3.1-10",
        "The acceptor's EstablishConnection response has the TimeStamp of the request plus one.",
        off_by(EstablishConnectionPacket, "EstablishConnectionHeader.TimeStamp", +1),
    ),
    (
        "acceptor-establish-connection-se-opposite",
        "MQQB-3.1.5.3.1-11",
        "The acceptor's EstablishConnection response inverts the SE of the request.",
        bit_inverted(EstablishConnectionPacket, "EstablishConnectionHeader.SE"),
    ),
    (
        "acceptor-establish-connection-reserved-0xffff",
        "MQQB-3.1.5.3.1-12",
        "The acceptor's EstablishConnection response has Reserved 0xFFFF.",
        reserved_bits_set(EstablishConnectionPacket, "EstablishConnectionHeader.Reserved"),
    ),
):
    add(_name, _rules, _says, sent_as("acceptor", _install))
add(
    "acceptor-establish-connection-response-not-sent",
    ("MQQB-3.1.5.3.1-02", "MQQB-3.1.5.3.1-D02"),
    "The acceptor sends no EstablishConnection response.",
    skip_during(SessionOpening.receive_establish_request, Connecting.send),
)


@fault("acceptor-session-remote-qm-guid-zero", breaks="MQQB-3.1.5.3.1-01")
class AcceptorSessionRemoteQmGuidZero(SessionOpening):
    """The acceptor sets RemoteQMGuid of its session to zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        session.RemoteQMGuid = NULL_GUID


@fault("acceptor-state-waiting-ec-msg-after-response", breaks="MQQB-3.1.5.3.1-13")
class AcceptorStateWaitingEcMsgAfterResponse(SessionOpening):
    """The acceptor sets the state of its session to WAITING_EC_MSG instead of WAITING_CP_MSG after its response."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.SessionState is SessionState.WAITING_CP_MSG:
            session.SessionState = SessionState.WAITING_EC_MSG


# -- a session beyond the limit ------------------------------------------------------------------------------------


add(
    "acceptor-refused-session-connection-kept-open",
    "MQQB-3.1.5.3.1-D01",
    "The acceptor keeps open the connection of a session that exceeds its limit of sessions.",
    skip_during(SessionOpening.receive_establish_request, Closing.close),
)


@fault("acceptor-request-server-guid-compared-by-4-bytes", breaks="MQQB-3.1.5.3.1-05", blind=True)
class AcceptorRequestServerGuidComparedBy4Bytes(SessionOpening):
    """The acceptor compares only the first four bytes of ServerGuid in a request."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        asked = packet.EstablishConnectionHeader.ServerGuid
        return asked == NULL_GUID or asked.fields[0] == self.qm.adm.Identifier.fields[0]


@fault("acceptor-establish-connection-client-guid-of-first-request", breaks="MQQB-3.1.5.3.1-08", blind=True)
class AcceptorEstablishConnectionClientGuidOfFirstRequest(SessionOpening):
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


@fault("acceptor-establish-connection-timestamp-31-bits", breaks="MQQB-3.1.5.3.1-10", blind=True)
class AcceptorEstablishConnectionTimestamp31Bits(SessionOpening):
    """The acceptor's EstablishConnection response has the TimeStamp of the request without its highest bit."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        header = response.EstablishConnectionHeader
        return replace(response, EstablishConnectionHeader=replace(header, TimeStamp=header.TimeStamp & 0x7FFFFFFF))
