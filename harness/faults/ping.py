"""Faults of the Ping Packets that are sent and taken. Spec: MS-MQQB 2.2.7, 3.1.7.6, 3.1.7.7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.datagrams import sent_datagrams
from harness.faults.parts import Method
from harness.faults.primitives import beforehand, procedure, set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, PingSocket

OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
RF = 0x0002


def _built(name: Method, **changes: Any) -> Install:
    """Let the procedure that builds a ping give other fields."""
    return procedure(name, lambda original: lambda *arguments: set_fields(original(*arguments), changes))


# -- 2.2.7, 3.1.7.7: the acceptor --------------------------------------------------------------------------------

add(
    "ping-request-unanswered",
    "MQQB-3.1.7.7-01",
    "Ping Requests are not answered.",
    skip(Ping.receive_request),
)


def _of_the_last_request(original: Callable[..., PingPacket]) -> Callable[..., PingPacket]:
    last: list[PingPacket] = []

    def build(qm: QueueManager, request: PingPacket) -> PingPacket:
        last.append(request)
        return original(qm, last.pop(0) if len(last) > 1 else request)

    return build


add(
    "ping-response-to-the-request-before",
    "MQQB-3.1.7.7-02",
    "A Ping Response is made from the request that came before.",
    procedure(Ping.build_response, _of_the_last_request),
)


def _request_returned(original: Callable[..., PingPacket]) -> Callable[..., PingPacket]:
    def build(qm: QueueManager, request: PingPacket) -> PingPacket:
        return replace(request, QMGuid=original(qm, request).QMGuid)

    return build


add(
    "ping-response-is-the-request",
    "MQQB-3.1.7.7-04",
    "A Ping Response is the request with another QMGuid: RF comes back.",
    procedure(Ping.build_response, _request_returned),
)
add(
    "ping-response-other-guid",
    "MQQB-3.1.7.7-09",
    "QMGuid of a Ping Response is that of no queue manager.",
    _built(Ping.build_response, QMGuid=OTHER_GUID),
)
add(
    "ping-response-to-the-ping-port",
    "MQQB-3.1.7.7-11",
    "A Ping Response goes to the ping port of the requesting address, not to the port that the request came from.",
    sent_datagrams(PingSocket.LISTENER, lambda effect: replace(effect, remote=Endpoint(effect.remote.host, 3527))),
)

# -- 2.2.7, 3.1.7.6: the initiator's request ---------------------------------------------------------------------

add(
    "ping-request-too-long",
    "MQQB-3.1.7.6-04",
    "A Ping Request has four bytes too many.",
    sent_datagrams(PingSocket.SOURCE, lambda effect: replace(effect, data=effect.data + bytes(4))),
)
add(
    "ping-request-other-guid",
    "MQQB-3.1.7.6-05",
    "QMGuid of a Ping Request is that of no queue manager.",
    _built(Ping.build_request, QMGuid=OTHER_GUID),
)
add(
    "ping-request-other-cookie",
    "MQQB-3.1.7.6-06",
    "Cookie of a Ping Request is not PingCookie.",
    _built(Ping.build_request, Cookie=lambda cookie: cookie ^ 0x100),
)
add(
    "ping-request-to-another-port",
    "MQQB-3.1.7.6-08",
    "A Ping Request is sent to the port beside the acceptor's ping port.",
    sent_datagrams(
        PingSocket.SOURCE, lambda effect: replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port + 1))
    ),
)


def connect(qm: QueueManager, session: Session, now: Now) -> None:
    """Connect without more ado."""
    qm.establishing.connect_transport(session)


def connect_at_once(original: Callable[..., None]) -> Callable[..., None]:
    """Connect instead of what a procedure should do."""
    return connect


def _step_of(step: int) -> Install:
    def change(qm: QueueManager, *_: Any) -> None:
        qm.adm.PingCookie = qm.adm.PingCookie + step - 1 & 0xFFFFFFFF

    return beforehand(Ping.send_request, change)


add("ping-cookie-by-two", "MQQB-3.1.7.6-03", "PingCookie grows by two.", _step_of(2))
add("ping-cookie-stands", "MQQB-3.1.7.6-03", "PingCookie is not incremented.", _step_of(0))
