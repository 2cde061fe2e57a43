"""Faults of MS-MQQB 2.1.2 Ping Message, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.registry import FaultyCore, add
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket


def _answer_first_requester(faulty: FaultyCore) -> None:
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
    _answer_first_requester,
    blind=True,
)


def _answer_ping_port(faulty: FaultyCore) -> None:
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
    _answer_ping_port,
    blind=True,
)


def _ping_other_port_later(faulty: FaultyCore) -> None:
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
    _ping_other_port_later,
    blind=True,
)
