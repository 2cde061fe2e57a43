"""Faults of MS-MQQB 2.1.2 Ping Message that occur only in a second ping or for a second initiator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams
from harness.faults.parts import fault
from harness.faults.primitives import effects
from harness.faults.registry import add
from reference_qm.codec import parse_ping
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket


@fault("acceptor-second-ping-response-to-port-of-first-request", breaks="MQQB-2.1.2-02")
class AcceptorSecondPingResponseToPortOfFirstRequest(Ping):
    """The acceptor sends every Ping Response for a host to the port from which this host sent its first Ping
    Request.
    """

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        ports = self.__dict__.setdefault("ports", {})
        super().receive_request(Endpoint(remote.host, ports.setdefault(remote.host, remote.port)), data)


def _send_later_requests_elsewhere(effect: Effect) -> Iterable[Effect]:
    if not isinstance(effect, SendDatagram) or effect.socket is not PingSocket.SOURCE:
        return [effect]
    if parse_ping(effect.data).Cookie < 2:
        return [effect]
    return [replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))]


add(
    "initiator-second-ping-request-to-other-port",
    "MQQB-2.1.2-D01",
    "The initiator sends every Ping Request except its first to a port number one above the acceptor's ping port.",
    effects(_send_later_requests_elsewhere),
)
add(
    "initiator-response-to-second-ping-not-received",
    "MQQB-2.1.2-01",
    "The initiator receives only the response to its first Ping Request.",
    change_received_datagrams(
        PingSocket.SOURCE, lambda data: data if len(data) == 24 and parse_ping(data).Cookie < 2 else None
    ),
)
