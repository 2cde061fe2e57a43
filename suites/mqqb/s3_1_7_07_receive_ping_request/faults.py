"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import change_sent_datagrams
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
    "acceptor-ping-request-unanswered",
    "MQQB-3.1.7.7-01",
    "The acceptor does not answer a Ping Request.",
    skip(Ping.receive_request),
)


@fault("acceptor-ping-response-to-previous-request", breaks="MQQB-3.1.7.7-02")
class AcceptorPingResponseToPreviousRequest(Ping):
    """The acceptor creates the Ping Response from the previous Ping Request."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.before: PingPacket | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        before, self.before = self.before or request, request
        return super().build_response(before)


@fault("acceptor-ping-response-copies-rf-of-request", breaks="MQQB-3.1.7.7-04")
class AcceptorPingResponseCopiesRfOfRequest(Ping):
    """The acceptor returns the Ping Request with a changed QMGuid, so that the Ping Response contains RF
    of the request.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(request, QMGuid=super().build_response(request).QMGuid)


add(
    "acceptor-ping-response-qm-guid-wrong",
    "MQQB-3.1.7.7-09",
    "The QMGuid of the acceptor's Ping Response belongs to no queue manager.",
    sent_as("acceptor", field_is(PingPacket, "QMGuid", OTHER_GUID)),
)
add(
    "acceptor-ping-response-to-ping-port",
    "MQQB-3.1.7.7-11",
    "The acceptor sends the Ping Response to the ping port of the initiator instead of the request's port.",
    change_sent_datagrams(
        PingSocket.LISTENER, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, _PING_PORT))
    ),
)


@fault("acceptor-ping-request-with-cookie-0-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithCookie0Unanswered(Ping):
    """The acceptor does not answer a Ping Request with Cookie 0."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data[4:8] != bytes(4):
            super().receive_request(remote, data)


@fault("acceptor-repeated-ping-request-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorRepeatedPingRequestUnanswered(Ping):
    """The acceptor does not answer a Ping Request that equals the previous Ping Request."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: tuple[Endpoint, bytes] | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        same = (remote, data) == self._before
        self._before = (remote, data)
        if not same:
            super().receive_request(remote, data)


SWAPPED_SIGNATURE = 0x4855


def _swap_cookie_bytes(packet: PingPacket) -> bytes:
    return replace(packet, Cookie=int.from_bytes(packet.Cookie.to_bytes(4, "big"), "little")).build()


add(
    "acceptor-ping-response-rc-clear",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "The acceptor's Ping Response always has RC clear.",
    sent_as("acceptor", bit_clear(PingPacket, "RC")),
)


add(
    "acceptor-ping-response-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.7-10"),
    "The acceptor's Ping Response has the Signature 0x4855.",
    sent_as("acceptor", field_is(PingPacket, "Signature", SWAPPED_SIGNATURE)),
)


add(
    "acceptor-ping-response-cookie-swapped",
    ("MQQB-2.2.7-22", "MQQB-3.1.7.7-08"),
    "The acceptor's Ping Response has the Cookie in the wrong byte order.",
    sent_as("acceptor", pings(_swap_cookie_bytes)),
)
