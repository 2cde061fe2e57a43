"""Faults of MS-MQQP 1.9, 2.1 and 2.2 in the binds of clients, which only special cases reveal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.primitives import inputs, pdus
from harness.faults.registry import Install, add
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bind_bodies import Bind, ContextElement
from reference_qm.rpc.bodies import Response
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.inputs import Input, RpcBytes

Change = Callable[[ContextElement], ContextElement]


def _change_binds(change: Change) -> Install:
    """Build a fault that changes the context elements of each bind before the server reads the bind."""

    def filter_bind(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytes):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        if not isinstance(pdu.body, Bind):
            return [event]
        body = replace(pdu.body, p_context_elem=tuple(map(change, pdu.body.p_context_elem)))
        return [event] if body == pdu.body else [replace(event, data=replace(pdu, body=body).build())]

    return inputs(filter_bind)


def _accept_minor_version(element: ContextElement) -> ContextElement:
    syntax = element.abstract_syntax
    same = syntax.uuid == QM2QM.syntax.uuid and syntax.version & 0xFFFF == 1
    return replace(element, abstract_syntax=QM2QM.syntax) if same else element


add(
    "server-bind-to-version-1-1-accepted",
    "MQQP-1.9-D01",
    "The server accepts a bind to qm2qm with any minor version.",
    _change_binds(_accept_minor_version),
)


_INTERFACE_FLOOR = b"\x13\x00\x0d" + QM2QM.syntax.uuid.bytes_le
"""The first bytes of the qm2qm tower's first floor: the length of the left side, the protocol identifier for a UUID,
and the identifier of qm2qm.
"""


def _lengthen_floors(body: Response) -> Response:
    return replace(body, stub=body.stub.replace(_INTERFACE_FLOOR, b"\xff\x7f" + _INTERFACE_FLOOR[2:]))


add(
    "endpoint-mapper-tower-floor-longer-than-tower",
    "MQQP-2.1-02",
    "The endpoint mapper returns a tower for qm2qm whose first floor has a length greater than that of the tower.",
    pdus(Response, _lengthen_floors),
)
