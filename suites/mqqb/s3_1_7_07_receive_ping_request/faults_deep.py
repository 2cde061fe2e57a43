"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import SessionState
from reference_qm.surface.inputs import Endpoint


@fault("acceptor-ping-request-during-session-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestDuringSessionUnanswered(Ping):
    """The acceptor does not answer a Ping Request while a session is open."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if not any(session.SessionState is SessionState.OPEN for session in self.qm.sessions.values()):
            super().receive_request(remote, data)


@fault("acceptor-ping-request-with-repeated-cookie-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithRepeatedCookieUnanswered(Ping):
    """The acceptor does not answer a Ping Request that has the same Cookie as the previous Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = b""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data != self.last:
            super().receive_request(remote, data)
        self.last = data


@fault("acceptor-ping-request-signature-compared-by-byte", breaks="MQQB-3.1.7.7-03", blind=True)
class AcceptorPingRequestSignatureComparedByByte(Ping):
    """The acceptor answers a datagram whose Signature equals 0x5548 only in the low byte."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if len(data) >= 4 and data[2] == 0x48:
            data = data[:3] + b"\x55" + data[4:]
        super().receive_request(remote, data)


@fault("acceptor-ping-response-cookie-0-replaced", breaks="MQQB-3.1.7.7-08", blind=True)
class AcceptorPingResponseCookie0Replaced(Ping):
    """The acceptor answers a Ping Request whose Cookie is zero with the Cookie 1."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie or 1)


@fault("acceptor-ping-response-cookie-of-31-bits", breaks="MQQB-3.1.7.7-08", blind=True)
class AcceptorPingResponseCookieOf31Bits(Ping):
    """The acceptor clears the highest bit of the Cookie in a Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie & 0x7FFFFFFF)


@fault("acceptor-ping-response-qmguid-of-request", breaks="MQQB-3.1.7.7-09", blind=True)
class AcceptorPingResponseQmguidOfRequest(Ping):
    """The acceptor copies QMGuid of the Ping Request to the Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(super().build_response(request), QMGuid=request.QMGuid)


@fault("acceptor-ping-response-to-first-requester", breaks="MQQB-3.1.7.7-11", blind=True)
class AcceptorPingResponseToFirstRequester(Ping):
    """The acceptor sends each Ping Response to the address and port of the first Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Endpoint | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        self.first = self.first or remote
        super().receive_request(self.first, data)


@fault("acceptor-ping-response-rf-set-when-rc-set", breaks="MQQB-3.1.7.7-05", blind=True)
class AcceptorPingResponseRfSetWhenRcSet(Ping):
    """The acceptor sets RF when RC of the Ping Request is set, although it accepts the session."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=int(request.RC)))


@fault("acceptor-ping-response-rf-of-request-kept", breaks="MQQB-3.1.7.7-04", blind=True)
class AcceptorPingResponseRfOfRequestKept(Ping):
    """The acceptor sets RF in the Ping Response when both RC and RF are set in the request."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=int(request.RC and request.RF)))
