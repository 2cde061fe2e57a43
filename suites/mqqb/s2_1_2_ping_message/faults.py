"""Faults that break rules of MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams, change_sent_datagrams
from harness.faults.parts import fault
from harness.faults.primitives import filter_effects
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket

add(
    "initiator-ping-response-ignored",
    "MQQB-2.1.2-01",
    "The initiator ignores every Ping Response.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: None),
)


@fault("initiator-ping-response-in-second-half-of-wait-not-received", breaks="MQQB-2.1.2-01", blind=True)
class InitiatorPingResponseInSecondHalfOfWaitNotReceived(PingHandling):
    """The initiator listens at the source port of a Ping Request only for the first half of the Ping Response Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent_ms = 0

    def send_request(self, session: Session, now: Now) -> None:
        self.sent_ms = now.monotonic_ms
        super().send_request(session, now)

    def receive_response(self, data: bytes, now: Now) -> None:
        settings = self.qm.settings
        if now.monotonic_ms - self.sent_ms <= settings.ping_response_ms // settings.scale // 2:
            super().receive_response(data, now)


add(
    "initiator-response-to-second-ping-not-received",
    "MQQB-2.1.2-01",
    "The initiator receives only the response to its first Ping Request.",
    change_received_datagrams(
        PingSocket.SOURCE, lambda data: data if len(data) == 24 and parse_ping(data).Cookie < 2 else None
    ),
)


def _redirect_datagram_to_other_port(effect: SendDatagram) -> SendDatagram:
    return replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))


add(
    "acceptor-ping-response-sent-to-other-port",
    "MQQB-2.1.2-02",
    "The acceptor sends a Ping Response to a port other than the port of the request.",
    change_sent_datagrams(PingSocket.LISTENER, _redirect_datagram_to_other_port),
)


@fault("acceptor-ping-response-sent-to-port-of-first-request", breaks="MQQB-2.1.2-02", blind=True)
class AcceptorPingResponseSentToPortOfFirstRequest(PingHandling):
    """The acceptor sends every Ping Response to the port of the first Ping Request from that address."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.clients: dict[str, Endpoint] = {}

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        super().receive_request(self.clients.setdefault(remote.host, remote), data)


def _redirect_responses_to_first_requester(faulty: FaultyCore) -> None:
    first: list[Endpoint] = []

    def filter_response(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendDatagram) and effect.socket is PingSocket.LISTENER:
            first.append(effect.remote)
            return [replace(effect, remote=first[0])]
        return [effect]

    faulty.effect_filters.append(filter_response)


add(
    "acceptor-ping-responses-to-source-of-first-request",
    "MQQB-2.1.2-02",
    "The acceptor sends every Ping Response to the address and port of the first Ping Request.",
    _redirect_responses_to_first_requester,
    blind=True,
)


def _redirect_responses_to_ping_port(faulty: FaultyCore) -> None:
    def filter_response(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendDatagram) and effect.socket is PingSocket.LISTENER:
            port = faulty.core.config.remote_ping_port
            return [replace(effect, remote=effect.remote._replace(port=port))]
        return [effect]

    faulty.effect_filters.append(filter_response)


add(
    "acceptor-ping-response-to-ping-port-of-requester",
    "MQQB-2.1.2-02",
    "The acceptor sends a Ping Response to the ping port of the initiator, not to the source port of the request.",
    _redirect_responses_to_ping_port,
    blind=True,
)


@fault("acceptor-sends-every-ping-response-to-port-of-first-request", breaks="MQQB-2.1.2-02")
class AcceptorSendsEveryPingResponseToPortOfFirstRequest(PingHandling):
    """The acceptor sends every Ping Response for a host to the port from which this host sent its first Ping
    Request.
    """

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        ports = self.__dict__.setdefault("ports", {})
        super().receive_request(Endpoint(remote.host, ports.setdefault(remote.host, remote.port)), data)


add(
    "initiator-ping-request-sent-to-port-3526",
    "MQQB-2.1.2-D01",
    "The initiator sends its Ping Requests to UDP port 3526 instead of 3527.",
    change_sent_datagrams(PingSocket.SOURCE, _redirect_datagram_to_other_port),
)


def _redirect_later_pings_to_next_port(faulty: FaultyCore) -> None:
    count: list[int] = []

    def filter_request(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendDatagram) and effect.socket is PingSocket.SOURCE:
            count.append(1)
            if len(count) > 1:
                return [replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))]
        return [effect]

    faulty.effect_filters.append(filter_request)


add(
    "initiator-later-ping-requests-to-next-port",
    "MQQB-2.1.2-D01",
    "The initiator sends every Ping Request except the first to a port number one above the acceptor's ping port.",
    _redirect_later_pings_to_next_port,
    blind=True,
)


def _redirect_ping_request_with_later_cookie(effect: Effect) -> Iterable[Effect]:
    if not isinstance(effect, SendDatagram) or effect.socket is not PingSocket.SOURCE:
        return [effect]
    if parse_ping(effect.data).Cookie < 2:
        return [effect]
    return [replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))]


add(
    "initiator-second-ping-request-to-other-port",
    "MQQB-2.1.2-D01",
    "The initiator sends every Ping Request except its first to a port number one above the acceptor's ping port.",
    filter_effects(_redirect_ping_request_with_later_cookie),
)
