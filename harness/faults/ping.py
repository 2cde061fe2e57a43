"""Faults of the Ping Packets that are sent and taken. Spec: MS-MQQB 2.2.7, 3.1.7.6, 3.1.7.7."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import beforehand, both, effects, inputs, procedure, set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import DatagramReceived, Endpoint, Input, PingSocket

OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
RF = 0x0002


def _built(name: Method, **changes: Any) -> Install:
    """Let the procedure that builds a ping give other fields."""
    return procedure(name, lambda original: lambda *arguments: set_fields(original(*arguments), changes))


def _sent(socket: PingSocket, change: Callable[[SendDatagram], SendDatagram | None]) -> Install:
    """Change the datagrams that leave one of the two sockets: SOURCE has requests, LISTENER has responses."""

    def filter_(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendDatagram) or effect.socket is not socket:
            return [effect]
        changed = change(effect)
        return [] if changed is None else [changed]

    return effects(filter_)


def heard(socket: PingSocket, change: Callable[[bytes], bytes | None]) -> Install:
    """Change the datagrams that come in at one of the two sockets."""

    def filter_(event: Input) -> Iterable[Input]:
        if not isinstance(event, DatagramReceived) or event.socket is not socket:
            return [event]
        data = change(event.data)
        return [] if data is None else [replace(event, data=data)]

    return inputs(filter_)


def _signed_wrongly(effect: SendDatagram) -> SendDatagram:
    return replace(effect, data=effect.data[:2] + b"\x55\x48" + effect.data[4:])


def any_signature(data: bytes) -> bytes:
    """Give a datagram the right Signature, whatever it had."""
    return data[:2] + b"\x48\x55" + data[4:]


# -- 2.2.7, 3.1.7.7: the acceptor --------------------------------------------------------------------------------

for _bit in range(2, 16):
    add(
        f"ping-request-unused-bit-{_bit}-matters",
        f"MQQB-2.2.7-{_bit + 4:02d}",
        f"A Ping Request with bit {_bit} of Flags set is not answered.",
        heard(
            PingSocket.LISTENER,
            lambda data, bit=_bit: None if int.from_bytes(data[:2], "little") == 1 << bit else data,  # type: ignore[misc]
        ),
    )

add(
    "ping-request-unused-bits-refused",
    "MQQB-2.2.7-01",
    "A Ping Request with all unused flags set is not answered.",
    heard(PingSocket.LISTENER, lambda data: None if int.from_bytes(data[:2], "little") >> 2 == 0x3FFF else data),
)
add(
    "ping-response-unused-bits-refused",
    "MQQB-2.2.7-01",
    "A Ping Response with unused flags set counts as a refusal.",
    heard(
        PingSocket.SOURCE,
        lambda data: bytes([data[0] | RF]) + data[1:] if int.from_bytes(data[:2], "little") >> 2 else data,
    ),
)
add(
    "ping-response-type-clear",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "RC is clear in every Ping Response.",
    _built(Ping.build_response, Flags=lambda flags: flags & ~1),
)
add(
    "ping-response-type-set",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "RC is set in every Ping Response.",
    _built(Ping.build_response, Flags=lambda flags: flags | 1),
)
add(
    "ping-response-refuses",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "RF is set in every Ping Response, though sessions are accepted.",
    _built(Ping.build_response, Flags=lambda flags: flags | RF),
)


def _few_sessions(original: Callable[[QueueManager], bool]) -> Callable[[QueueManager], bool]:
    def acceptable(qm: QueueManager) -> bool:
        waiting = SessionState.WAITING_EC_MSG
        return sum(not one.initiator and one.SessionState is not waiting for one in qm.sessions.values()) < 4

    return acceptable


add(
    "ping-response-never-refuses",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "With room for four sessions, RF is clear in every Ping Response, though the fifth session is refused.",
    both(
        procedure(SessionOpening.is_session_acceptable, _few_sessions),
        _built(Ping.build_response, Flags=lambda flags: flags & ~RF),
    ),
)
add(
    "ping-response-cookie-swapped",
    ("MQQB-2.2.7-22", "MQQB-3.1.7.7-08"),
    "Cookie of a Ping Response has the other byte order.",
    _built(Ping.build_response, Cookie=lambda cookie: int.from_bytes(cookie.to_bytes(4, "big"), "little")),
)
add(
    "ping-response-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.7-10"),
    "Signature of a Ping Response is 0x4855.",
    _sent(PingSocket.LISTENER, _signed_wrongly),
)
add(
    "ping-request-any-signature",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.7-03"),
    "A Ping Request is answered whatever its Signature.",
    heard(PingSocket.LISTENER, any_signature),
)
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
    _sent(PingSocket.LISTENER, lambda effect: replace(effect, remote=Endpoint(effect.remote.host, 3527))),
)

# -- 2.2.7, 3.1.7.6: the initiator's request ---------------------------------------------------------------------

add(
    "ping-request-type-flipped",
    "MQQB-2.2.7-02",
    "RC of a Ping Request is set by a server.",
    _built(Ping.build_request, Flags=lambda flags: flags ^ 1),
)
add(
    "ping-request-refuses",
    ("MQQB-2.2.7-05", "MQQB-3.1.7.6-07"),
    "RF is set in Ping Requests.",
    _built(Ping.build_request, Flags=lambda flags: flags | RF),
)
add(
    "ping-request-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.6-07"),
    "Signature of a Ping Request is 0x4855.",
    _sent(PingSocket.SOURCE, _signed_wrongly),
)
add(
    "ping-request-too-long",
    "MQQB-3.1.7.6-04",
    "A Ping Request has four bytes too many.",
    _sent(PingSocket.SOURCE, lambda effect: replace(effect, data=effect.data + bytes(4))),
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
    _sent(
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
