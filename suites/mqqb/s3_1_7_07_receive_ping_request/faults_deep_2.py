"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request that occur only for a second request or a null value."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, FormatError, PingPacket, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.inputs import Endpoint


@fault("acceptor-ping-request-of-null-guid-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestOfNullGuidNotAnswered(Ping):
    """The acceptor does not answer a Ping Request whose QMGuid is zero."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        try:
            null = parse_ping(data).QMGuid == NULL_GUID
        except FormatError:
            return
        if not null:
            super().receive_request(remote, data)


@fault("acceptor-ping-response-repeats-rc-of-first-request", breaks="MQQB-3.1.7.7-07", blind=True)
class AcceptorPingResponseRepeatsRcOfFirstRequest(Ping):
    """The acceptor repeats RC of the first Ping Request in the responses to all later requests."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: int | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        self.first = request.RC if self.first is None else self.first
        response = super().build_response(request)
        return PingPacket(PingPacket.flags(RC=self.first, RF=response.RF), response.Cookie, response.QMGuid)


@fault("acceptor-ping-response-rc-of-preceding-request", breaks="MQQB-3.1.7.7-07", blind=True)
class AcceptorPingResponseRcOfPrecedingRequest(Ping):
    """The acceptor sends RC of the preceding Ping Request in a Ping Response."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: int | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        rc = request.RC if self.last is None else self.last
        self.last = request.RC
        response = super().build_response(request)
        return PingPacket(PingPacket.flags(RC=rc, RF=response.RF), response.Cookie, response.QMGuid)
