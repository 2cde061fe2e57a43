"""Faults of MS-MQQP 2.1 Transport."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from harness.faults.primitives import inputs, pdus
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import Fault, Response
from reference_qm.surface.inputs import Input, RpcAccepted, RpcBytes, RpcListening, RpcLost

RPC_ACCESS_DENIED_STATUS = 5


def _ignore_events(kind: type[Input]) -> Install:
    """Build a fault in which the server ignores all inputs of one type."""

    def filter_event(event: Input) -> Iterable[Input]:
        return [] if isinstance(event, kind) else [event]

    return inputs(filter_event)


add(
    "server-ignores-all-rpc-bytes",
    "MQQP-2.1-01",
    "The server ignores all bytes that arrive on its RPC connections.",
    _ignore_events(RpcBytes),
)
add(
    "endpoint-mapper-without-endpoints",
    "MQQP-2.1-02",
    "The endpoint mapper returns no endpoint.",
    _ignore_events(RpcListening),
)


# -- 1.9 Standards Assignments ----------------------------------------------------------------------------------------

_QM2QM_UUID_BYTES = QM2QM.syntax.uuid.bytes_le
_WRONG_UUID_BYTES = UUID(int=QM2QM.syntax.uuid.int ^ 1).bytes_le
_UUID_AND_VERSION_PATTERN = re.compile(re.escape(_QM2QM_UUID_BYTES) + b"....", re.DOTALL)


def _accept_any_interface_version(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytes):
        event = replace(event, data=_UUID_AND_VERSION_PATTERN.sub(_QM2QM_UUID_BYTES + b"\1\0\0\0", event.data))
    return [event]


def _accept_neighbour_interface(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytes):
        event = replace(event, data=event.data.replace(_WRONG_UUID_BYTES, _QM2QM_UUID_BYTES))
    return [event]


add(
    "server-bind-of-any-version-accepted",
    "MQQP-1.9-D01",
    "The server accepts a bind to qm2qm in any version.",
    inputs(_accept_any_interface_version),
)
add(
    "server-accepts-bind-to-wrong-interface",
    "MQQP-1.9-D01",
    "The server accepts a bind to an interface whose identifier differs from qm2qm in one bit.",
    inputs(_accept_neighbour_interface),
)

# -- clients that may connect -----------------------------------------------------------------------------------------


def _serve_only_first_client(faulty: FaultyCore) -> None:
    """Let the server answer only the first connected client."""
    connected: list[str] = []

    def filter_accepted_client(event: Input) -> Iterable[Input]:
        if isinstance(event, RpcAccepted):
            connected.append(event.connection)
        elif isinstance(event, RpcLost) and event.connection in connected:
            connected.remove(event.connection)
        elif isinstance(event, RpcBytes) and event.connection != connected[0]:
            return []
        return [event]

    faulty.input_filters.append(filter_accepted_client)


add(
    "server-only-first-client-served",
    "MQQP-2.1-D01",
    "The server answers only the first of the connected clients.",
    _serve_only_first_client,
)
add(
    "server-unauthenticated-calls-denied",
    "MQQP-2.1-D01",
    "The server answers each call of an unauthenticated client with access denied.",
    pdus(Response, lambda body: Fault(p_cont_id=body.p_cont_id, status=RPC_ACCESS_DENIED_STATUS)),
)
