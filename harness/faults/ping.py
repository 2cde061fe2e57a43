"""Faults of the Ping Packets that are sent and taken. Spec: MS-MQQB 2.2.7, 3.1.7.6, 3.1.7.7."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import both, effects, inputs, procedure, set_fields
from harness.faults.registry import Install, add
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import DatagramReceived, Input, PingSocket

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


def connect(qm: QueueManager, session: Session, now: Now) -> None:
    """Connect without more ado."""
    qm.establishing.connect_transport(session)


def connect_at_once(original: Callable[..., None]) -> Callable[..., None]:
    """Connect instead of what a procedure should do."""
    return connect


add(
    "ping-request-not-sent",
    "MQQB-3.1.5.2.2-02",
    "The initiator connects without the ping that it is set up to send.",
    procedure(Ping.send_request, connect_at_once),
)
