"""Faults of MS-MQQB 3.1.7.7 Receive Ping Request with a condition: the second requester, another size, an event before
the request.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.inputs import Endpoint


def _ignore_first_of_other_port(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    first = self.__dict__.setdefault("first", remote)
    if remote == first:
        original(remote, data)


def _ignore_after_malformed(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    if data[2:4] != b"\x48\x55" and len(data) >= 4:
        self.__dict__["malformed"] = True
    elif self.__dict__.pop("malformed", False):
        return
    original(remote, data)


def _answer_every_second(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    self.__dict__["count"] = count = self.__dict__.get("count", 0) + 1
    if count % 3:
        original(remote, data)


def _answer_at_first_port(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    ports = self.__dict__.setdefault("ports", {})
    original(remote._replace(port=ports.setdefault(remote[0], remote[1])), data)


def _answer_twice(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    original(remote, data)
    previous = self.__dict__.get("previous")
    if previous is not None and previous != remote:
        original(previous, data)
    self.__dict__["previous"] = remote


def _answer_any_signature(signature: bytes) -> Install:
    def run(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
        if data[2:4] == signature:
            data = data[:2] + b"\x48\x55" + data[4:]
        original(remote, data)

    return change_step(Ping.receive_request, run)


def _answer_padded(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    original(remote, data + bytes(24 - len(data)) if 4 <= len(data) < 24 else data)


def _change_response(change: Any) -> Install:
    def run(self: Any, original: Any, request: PingPacket) -> PingPacket:
        changed: PingPacket = change(self, request, original(request))
        return changed

    return change_step(Ping.build_response, run)


def _repeat(field: str) -> Any:
    def change(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
        kept = self.__dict__.setdefault(field, getattr(response, field))
        return replace(response, **{field: kept})

    return change


def _keep_rf(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
    bit = PingPacket.flags(RF=1)
    kept = self.__dict__.setdefault("rf", response.Flags & bit)
    return replace(response, Flags=response.Flags & ~bit | kept)


def _keep_refusing(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
    bit = PingPacket.flags(RF=1)
    self.__dict__["rf"] = kept = self.__dict__.get("rf", 0) | response.Flags & bit
    return replace(response, Flags=response.Flags | kept)


for _name, _breaks, _says, _install in (
    (
        "acceptor-ping-request-of-second-port-unanswered",
        "MQQB-3.1.7.7-01",
        "The acceptor answers only the Ping Requests of the address and port of the first Ping Request.",
        change_step(Ping.receive_request, _ignore_first_of_other_port),
    ),
    (
        "acceptor-ping-request-third-unanswered",
        "MQQB-3.1.7.7-01",
        "The acceptor does not answer each third datagram on its ping port.",
        change_step(Ping.receive_request, _answer_every_second),
    ),
    (
        "acceptor-ping-request-after-malformed-datagram-unanswered",
        "MQQB-3.1.7.7-03",
        "The acceptor does not answer the Ping Request after a datagram with a wrong Signature.",
        change_step(Ping.receive_request, _ignore_after_malformed),
    ),
    *(
        (
            f"acceptor-ping-request-with-signature-{signature.hex()}-answered",
            "MQQB-3.1.7.7-03",
            f"The acceptor answers a datagram whose Signature has the bytes {signature.hex(' ')}.",
            _answer_any_signature(signature),
        )
        for signature in (b"\x55\x48", b"\0\0", b"\x48\0", b"\0\x55")
    ),
    (
        "acceptor-ping-response-to-first-port-of-host",
        "MQQB-3.1.7.7-11",
        "The acceptor sends each Ping Response to the port from which the host sent its first Ping Request.",
        change_step(Ping.receive_request, _answer_at_first_port),
    ),
    (
        "acceptor-ping-response-also-to-previous-requester",
        "MQQB-3.1.7.7-11",
        "The acceptor sends a Ping Response also to the port of the previous Ping Request.",
        change_step(Ping.receive_request, _answer_twice),
    ),
    (
        "acceptor-ping-response-cookie-of-first-request",
        ("MQQB-3.1.7.7-02", "MQQB-3.1.7.7-08"),
        "The acceptor repeats the Cookie of the first Ping Request in each Ping Response.",
        _change_response(_repeat("Cookie")),
    ),
    (
        "acceptor-ping-response-flags-of-first-request",
        ("MQQB-3.1.7.7-05", "MQQB-3.1.7.7-07"),
        "The acceptor repeats the Flags of the first Ping Response in each Ping Response.",
        _change_response(_repeat("Flags")),
    ),
    (
        "acceptor-ping-response-rf-of-first-response",
        "MQQB-3.1.7.7-05",
        "The acceptor keeps the RF of its first Ping Response.",
        _change_response(_keep_rf),
    ),
    (
        "acceptor-ping-response-rf-set-ever-after-refusal",
        "MQQB-3.1.7.7-05",
        "The acceptor sets RF in each Ping Response after the first with RF, although it accepts sessions again.",
        _change_response(_keep_refusing),
    ),
    (
        "acceptor-ping-response-guid-null-for-null-guid",
        "MQQB-3.1.7.7-09",
        "The acceptor sets QMGuid of the Ping Response to null when QMGuid of the request is null.",
        _change_response(
            lambda self, request, response: (
                replace(response, QMGuid=NULL_GUID) if request.QMGuid == NULL_GUID else response
            )
        ),
    ),
    (
        "acceptor-ping-response-guid-null-when-refusing",
        "MQQB-3.1.7.7-09",
        "The acceptor sets QMGuid of a Ping Response with RF to null.",
        _change_response(
            lambda self, request, response: replace(response, QMGuid=NULL_GUID) if response.RF else response
        ),
    ),
    (
        "acceptor-ping-response-rc-clear-when-refusing",
        "MQQB-3.1.7.7-07",
        "The acceptor clears RC in a Ping Response with RF.",
        _change_response(
            lambda self, request, response: replace(response, Flags=response.Flags & ~1) if response.RF else response
        ),
    ),
    (
        "acceptor-ping-response-cookie-0-when-refusing",
        "MQQB-3.1.7.7-08",
        "The acceptor sets Cookie of a Ping Response with RF to 0.",
        _change_response(lambda self, request, response: replace(response, Cookie=0) if response.RF else response),
    ),
    (
        "acceptor-ping-response-cookie-high-bit-lost",
        "MQQB-3.1.7.7-08",
        "The acceptor copies only the low 16 bits of Cookie into the Ping Response.",
        _change_response(lambda self, request, response: replace(response, Cookie=response.Cookie & 0xFFFF)),
    ),
):
    add(_name, _breaks, _says, _install, blind=True)
