"""Faults of the packets that open a session. Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3.1, 3.1.5.3.2, 3.1.5.4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import effects, procedure, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    parse_packet,
)
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.surface.effects import Connect, Effect, SendPacket

Original = Callable[..., Any]

OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
IN_AT, PT_AT = 2, 18
"""Where BaseHeader.Flags and InternalHeader.Flags begin."""
CS = 1 << 4
SE = 1 << 8
ESTABLISH, PARAMETERS = "EstablishConnectionHeader", "ConnectionParametersHeader"


def _packet_of(effect: Effect, transport: str, kind: type[Packet]) -> bool:
    """Is it a packet of a kind, on a connection of the initiator (``out-``) or of the acceptor (``in-``)?"""
    if not isinstance(effect, SendPacket) or not effect.transport.startswith(transport):
        return False
    try:
        return isinstance(parse_packet(effect.data), kind)
    except FormatError:
        return False  # another fault broke it already


def _bytes(transport: str, kind: type[Packet], at: int, change: Callable[[int], int]) -> Install:
    """Change one byte of the packets of a kind that one role sends."""

    def filter_(effect: Effect) -> Iterable[Effect]:
        if not _packet_of(effect, transport, kind) or not isinstance(effect, SendPacket):
            return [effect]
        data = bytearray(effect.data)
        data[at] = change(data[at])
        return [replace(effect, data=bytes(data))]

    return effects(filter_)


def _unsent(transport: str, kind: type[Packet]) -> Install:
    """Do not send the packets of a kind that one role sends."""
    return effects(lambda effect: [] if _packet_of(effect, transport, kind) else [effect])


def _built(build: Method, **changes: Any) -> Install:
    """Let a packet be built with other fields: those of the packet's own header, or InternalHeader ``Flags``."""
    header = ESTABLISH if "establish" in build.__name__ else PARAMETERS
    paths = {f"{'InternalHeader' if field == 'Flags' else header}.{field}": new for field, new in changes.items()}
    return procedure(build, lambda original: lambda *arguments: set_fields(original(*arguments), paths))


# -- 3.1.5.2.3 the request, 3.1.5.3.1 the response, 3.1.5.3.2 and 3.1.5.4.1 the parameters -------------------------

for _who, _transport, _kind, _packet, _section, _in, _pt in (
    ("establish-request", "out-", EstablishConnectionPacket, "request", "3.1.5.2.3", "04", "05"),
    ("establish-response", "in-", EstablishConnectionPacket, "response", "3.1.5.3.1", "03", "04"),
    ("parameters-request", "out-", ConnectionParametersPacket, "request", "3.1.5.3.2", "08", "09"),
    ("parameters-response", "in-", ConnectionParametersPacket, "response", "3.1.5.4.1", "06", "07"),
):
    add(
        f"{_who}-not-internal",
        f"MQQB-{_section}-{_in}",
        f"The {_packet} has BaseHeader.Flags.IN clear.",
        _bytes(_transport, _kind, IN_AT, lambda old: old & ~0x08),
    )
    add(
        f"{_who}-other-type",
        f"MQQB-{_section}-{_pt}",
        f"The {_packet} has the PT of another packet.",
        _bytes(_transport, _kind, PT_AT, lambda old: old ^ 1),
    )

for _who, _transport, _kind, _rule in (
    ("establish-response", "in-", EstablishConnectionPacket, "3.1.5.3.1-02"),
    ("parameters-request", "out-", ConnectionParametersPacket, "3.1.5.3.2-07"),
    ("parameters-response", "in-", ConnectionParametersPacket, "3.1.5.4.1-05"),
):
    add(f"{_who}-unsent", f"MQQB-{_rule}", "It is never sent.", _unsent(_transport, _kind))

for _name, _rules, _says, _build, _changes in (
    (
        "establish-request-refused",
        "3.1.5.2.3-06",
        "CS is set",
        Establishing.build_establish_request,
        {"Flags": lambda old: old | CS},
    ),
    (
        "establish-request-client",
        "3.1.5.2.3-07",
        "ClientGuid is made up",
        Establishing.build_establish_request,
        {"ClientGuid": OTHER_GUID},
    ),
    (
        "establish-request-unnamed-server",
        "3.1.5.2.1-14 3.1.5.2.3-08",
        "ServerGuid is zero for a private name too",
        Establishing.build_establish_request,
        {"ServerGuid": NULL_GUID},
    ),
    (
        "establish-request-named-server",
        "3.1.5.2.3-09",
        "ServerGuid is made up for a direct name",
        Establishing.build_establish_request,
        {"ServerGuid": lambda old: OTHER_GUID if old == NULL_GUID else old},
    ),
    (
        "establish-request-seconds",
        "3.1.5.2.3-10",
        "TimeStamp is in seconds",
        Establishing.build_establish_request,
        {"TimeStamp": lambda old: old // 1000},
    ),
    (
        "establish-request-session-flag",
        "3.1.5.2.3-11",
        "SE is always 0",
        Establishing.build_establish_request,
        {"OperatingSystem": lambda old: old & ~SE},
    ),
    (
        "establish-request-reserved",
        "3.1.5.2.3-12",
        "Reserved is 1",
        Establishing.build_establish_request,
        {"Reserved": 1},
    ),
    (
        "establish-response-refuses-all",
        "3.1.5.3.1-05 3.1.5.3.1-06",
        "CS is always set",
        SessionOpening.build_establish_response,
        {"Flags": lambda old: old | CS},
    ),
    (
        "establish-response-refuses-nobody",
        "3.1.5.3.1-05 3.1.5.3.1-07",
        "CS is never set",
        SessionOpening.build_establish_response,
        {"Flags": lambda old: old & ~CS},
    ),
    (
        "establish-response-client",
        "3.1.5.3.1-08",
        "ClientGuid is made up",
        SessionOpening.build_establish_response,
        {"ClientGuid": OTHER_GUID},
    ),
    (
        "establish-response-server",
        "3.1.5.3.1-09",
        "ServerGuid is made up",
        SessionOpening.build_establish_response,
        {"ServerGuid": OTHER_GUID},
    ),
    (
        "establish-response-timestamp",
        "3.1.5.3.1-10",
        "TimeStamp is one more than asked",
        SessionOpening.build_establish_response,
        {"TimeStamp": lambda old: old + 1 & 0xFFFFFFFF},
    ),
    (
        "establish-response-session-flag",
        "3.1.5.3.1-11",
        "SE is the opposite of the request's",
        SessionOpening.build_establish_response,
        {"OperatingSystem": lambda old: old ^ SE},
    ),
    (
        "establish-response-reserved",
        "3.1.5.3.1-12",
        "Reserved is 1",
        SessionOpening.build_establish_response,
        {"Reserved": 1},
    ),
    (
        "parameters-request-refused",
        "3.1.5.3.2-10",
        "CS is set",
        SessionOpening.build_parameters_request,
        {"Flags": lambda old: old | CS},
    ),
    (
        "parameters-request-recoverable",
        "3.1.5.3.2-11",
        "RecoverableAckTimeout is always 20 s",
        SessionOpening.build_parameters_request,
        {"RecoverableAckTimeout": 20_000},
    ),
    (
        "parameters-request-ack",
        "3.1.5.3.2-12",
        "AckTimeout is always 20 s",
        SessionOpening.build_parameters_request,
        {"AckTimeout": 20_000},
    ),
    (
        "parameters-request-window",
        "3.1.5.3.2-13",
        "WindowSize is 1",
        SessionOpening.build_parameters_request,
        {"WindowSize": 1},
    ),
    (
        "parameters-response-refused",
        "3.1.5.4.1-08",
        "CS is set",
        SessionOpening.build_parameters_response,
        {"Flags": lambda old: old | CS},
    ),
    (
        "parameters-response-other-recoverable-timeout",
        "3.1.5.4.1-09",
        "RecoverableAckTimeout is one more than asked",
        SessionOpening.build_parameters_response,
        {"RecoverableAckTimeout": lambda old: old + 1},
    ),
    (
        "parameters-response-other-ack-timeout",
        "3.1.5.4.1-10",
        "AckTimeout is one more than asked",
        SessionOpening.build_parameters_response,
        {"AckTimeout": lambda old: old + 1},
    ),
):
    add(_name, [f"MQQB-{rule}" for rule in _rules.split()], f"{_says}.", _built(_build, **_changes))


def _window_of_the_request(original: Original) -> Original:
    def build(qm: QueueManager, session: Session, request: ConnectionParametersPacket) -> Any:
        window = request.ConnectionParametersHeader.WindowSize
        return set_fields(original(qm, session, request), {f"{PARAMETERS}.WindowSize": window})

    return build


add(
    "parameters-response-window-of-the-request",
    "MQQB-3.1.5.4.1-11",
    "The response repeats the WindowSize of the request.",
    procedure(SessionOpening.build_parameters_response, _window_of_the_request),
)


def _to_another_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        effect = replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))
    return [effect]


add(
    "establish-request-other-port",
    "MQQB-3.1.5.2.3-02",
    "The initiator connects to the port after the acceptor's.",
    effects(_to_another_port),
)
