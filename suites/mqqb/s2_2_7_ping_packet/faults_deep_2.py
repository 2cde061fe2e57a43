"""Faults of MS-MQQB 2.2.7 Ping Packet that occur only in later pings, with extreme values or in one state of the
acceptor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import Opening
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, PingSocket


@fault("acceptor-ping-response-cookie-of-first-request-of-host", breaks="MQQB-2.2.7-22")
class AcceptorPingResponseCookieOfFirstRequestOfHost(Ping):
    """The acceptor sends the Cookie of the first request of a host in every Ping Response for this host."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        self.__dict__["host"] = remote
        super().receive_request(remote, data)

    def build_response(self, request: PingPacket) -> PingPacket:
        cookies = self.__dict__.setdefault("cookies", {})
        return replace(
            super().build_response(request), Cookie=cookies.setdefault(self.__dict__["host"], request.Cookie)
        )


@fault("acceptor-ping-response-cookie-0xffffffff-as-0", breaks="MQQB-2.2.7-22")
class AcceptorPingResponseCookie0xffffffffAs0(Ping):
    """The acceptor sends Cookie 0 in the response to a request with Cookie 0xFFFFFFFF."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=0) if request.Cookie == 0xFFFFFFFF else response


@fault("acceptor-ping-response-rc-of-first-request", breaks="MQQB-2.2.7-03")
class AcceptorPingResponseRcOfFirstRequest(Ping):
    """The acceptor copies RC of the first Ping Request to every Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        first = self.__dict__.setdefault("first", request.RC)
        response = super().build_response(request)
        return replace(response, Flags=response.Flags & ~1 | first)


@fault("acceptor-ping-response-rf-stays-set", breaks="MQQB-2.2.7-04")
class AcceptorPingResponseRfStaysSet(Ping):
    """The acceptor leaves RF set in every Ping Response after it has refused once, even if a session would be
    accepted again.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self.__dict__["full"] = self.__dict__.get("full", 0) | response.RF
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=self.__dict__["full"]))


@fault("acceptor-ping-response-rf-clear-offline", breaks="MQQB-2.2.7-04")
class AcceptorPingResponseRfClearOffline(Ping):
    """The acceptor leaves RF clear in a Ping Response while it is offline."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if self.qm.adm.ConnectionActive:
            return response
        return replace(response, Flags=response.Flags & ~PingPacket.flags(RF=1))


@fault("acceptor-ping-response-rf-follows-request", breaks="MQQB-2.2.7-04")
class AcceptorPingResponseRfFollowsRequest(Ping):
    """The acceptor sets RF in the response to a Ping Request in which RF is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=request.RF))


@fault("initiator-response-to-earlier-ping-accepted", breaks="MQQB-2.2.7-23")
class InitiatorResponseToEarlierPingAccepted(Ping):
    """The initiator accepts a Ping Response whose Cookie is lower than the Cookie of its latest Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        try:
            cookie = parse_ping(data).Cookie
        except FormatError:
            return
        latest = self.qm.adm.PingCookie
        super().receive_response(data, now)
        if cookie < latest:
            for session in list(self.qm.sessions.values()):
                if session.opening is Opening.PING_RESPONSE and session.ping_cookie == latest:
                    self.response_processed(session, parse_ping(data), now)
                    return


@fault("initiator-response-compared-by-low-16-bits-of-cookie", breaks="MQQB-2.2.7-23")
class InitiatorResponseComparedByLow16BitsOfCookie(Ping):
    """The initiator compares only the low 16 bits of Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if len(data) == 24 and int.from_bytes(data[4:6], "little") == self.qm.adm.PingCookie & 0xFFFF:
            data = data[:4] + self.qm.adm.PingCookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


def _repair_signature(accepted: int) -> Callable[[bytes], bytes]:
    def repair(data: bytes) -> bytes:
        found = int.from_bytes(data[2:4], "little")
        return data[:2] + b"\x48\x55" + data[4:] if len(data) == 24 and found == accepted else data

    return repair


add(
    "acceptor-ping-request-signature-of-swapped-bytes-accepted",
    "MQQB-2.2.7-21",
    "The acceptor answers a Ping Request whose Signature is 0x4855.",
    change_received_datagrams(PingSocket.LISTENER, _repair_signature(0x4855)),
)
add(
    "initiator-ping-response-signature-0-accepted",
    "MQQB-2.2.7-21",
    "The initiator accepts a Ping Response whose Signature is 0.",
    change_received_datagrams(PingSocket.SOURCE, _repair_signature(0)),
)
add(
    "initiator-ping-response-with-unused-bit-15-ignored",
    "MQQB-2.2.7-01",
    "The initiator ignores a Ping Response in which bit 15 of Flags is set.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: None if data[1:2] >= b"\x80" else data),
)
