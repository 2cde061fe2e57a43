"""Faults in the answers to some EstablishConnection requests. MS-MQQB 3.1.5.3.1 Request Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

OPERATING_SYSTEM_PATH = "EstablishConnectionHeader.OperatingSystem"
_SESSION_FLAG_SE = EstablishConnectionHeader.flags(SE=1)
_MASK_OF_RESERVED_FIELD_RE = EstablishConnectionHeader.flags(RE=0xFF)


@fault("acceptor-se-of-first-request-of-initiator-in-every-response", breaks="MQQB-3.1.5.3.1-11", blind=True)
class AcceptorSeOfFirstRequestOfInitiatorInEveryResponse(SessionOpening):
    """SE of each response is the SE of the first request that the acceptor received from the same queue manager."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first_values: dict[object, int] = {}

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        header = request.EstablishConnectionHeader
        first = self.first_values.setdefault(header.ClientGuid, header.SE)
        changed: EstablishConnectionPacket = set_fields(
            super().build_establish_response(session, request),
            {OPERATING_SYSTEM_PATH: lambda flags: flags & ~_SESSION_FLAG_SE | first * _SESSION_FLAG_SE},
        )
        return changed


@fault("acceptor-re-of-request-copied-to-response", breaks="MQQB-3.1.5.3.1-12", blind=True)
class AcceptorReOfRequestCopiedToResponse(SessionOpening):
    """The acceptor copies RE of a request to its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        copied = request.EstablishConnectionHeader.OperatingSystem & _MASK_OF_RESERVED_FIELD_RE
        changed: EstablishConnectionPacket = set_fields(
            super().build_establish_response(session, request),
            {OPERATING_SYSTEM_PATH: lambda flags: flags & ~_MASK_OF_RESERVED_FIELD_RE | copied},
        )
        return changed


@fault("acceptor-establish-request-of-known-queue-manager-not-answered", breaks="MQQB-3.1.5.3.1-D02", blind=True)
class AcceptorEstablishRequestOfKnownQueueManagerNotAnswered(SessionOpening):
    """The acceptor ignores a request of a queue manager with which a session is open."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        guid = packet.EstablishConnectionHeader.ClientGuid
        known = any(
            one.RemoteQMGuid == guid and one.SessionState is SessionState.OPEN for one in self.qm.sessions.values()
        )
        if not known:
            super().receive_establish_request(session, packet, now)


@fault("acceptor-establish-request-in-two-segments-not-answered", breaks="MQQB-3.1.5.3.1-D02", blind=True)
class AcceptorEstablishRequestInTwoSegmentsNotAnswered(Identifying):
    """The acceptor closes the connection if a request does not arrive in one segment."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        super().receive_bytes(session, data, now)
        if session.SessionState is SessionState.WAITING_EC_MSG and session.framer.unfinished_packet_bytes:
            self.qm.session_closing.close(session, "a fault", now)
