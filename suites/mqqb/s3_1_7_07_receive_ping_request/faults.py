"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import sent_datagrams
from harness.faults.fields import bit_clear, field_is, sent_as
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import pings, skip
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.inputs import Endpoint, PingSocket

_PING_PORT = 3527

add(
    "ping-request-unanswered",
    "MQQB-3.1.7.7-01",
    "Ping Requests are not answered.",
    skip(Ping.receive_request),
)


@fault("ping-response-to-the-request-before", breaks="MQQB-3.1.7.7-02")
class ResponseToTheRequestBefore(Ping):
    """A Ping Response is made from the request that came before."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.before: PingPacket | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        before, self.before = self.before or request, request
        return super().build_response(before)


@fault("ping-response-is-the-request", breaks="MQQB-3.1.7.7-04")
class ResponseIsTheRequest(Ping):
    """A Ping Response is the request with another QMGuid: RF comes back."""

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(request, QMGuid=super().build_response(request).QMGuid)


add(
    "ping-response-other-guid",
    "MQQB-3.1.7.7-09",
    "QMGuid of a Ping Response is that of no queue manager.",
    sent_as("acceptor", field_is(PingPacket, "QMGuid", OTHER_GUID)),
)
add(
    "ping-response-to-the-ping-port",
    "MQQB-3.1.7.7-11",
    "A Ping Response goes to the ping port of the requesting address, not to the port that the request came from.",
    sent_datagrams(PingSocket.LISTENER, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, _PING_PORT))),
)


@fault("cookie-zero-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class CookieZeroNotAnswered(Ping):
    """A Ping Request with the Cookie 0 is taken for one without any."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data[4:8] != bytes(4):
            super().receive_request(remote, data)


@fault("repeated-ping-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class RepeatedPingNotAnswered(Ping):
    """A Ping Request that is the same as the one before is not answered."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: tuple[Endpoint, bytes] | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        same = (remote, data) == self._before
        self._before = (remote, data)
        if not same:
            super().receive_request(remote, data)


SWAPPED_SIGNATURE = 0x4855


def _swapped_cookie(packet: PingPacket) -> bytes:
    return replace(packet, Cookie=int.from_bytes(packet.Cookie.to_bytes(4, "big"), "little")).build()


add(
    "ping-response-type-clear",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "RC is clear in every Ping Response.",
    sent_as("acceptor", bit_clear(PingPacket, "RC")),
)


add(
    "ping-response-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.7-10"),
    "Signature of a Ping Response is 0x4855.",
    sent_as("acceptor", field_is(PingPacket, "Signature", SWAPPED_SIGNATURE)),
)


add(
    "ping-response-cookie-swapped",
    ("MQQB-2.2.7-22", "MQQB-3.1.7.7-08"),
    "Cookie of a Ping Response has the other byte order.",
    sent_as("acceptor", pings(_swapped_cookie)),
)
