"""Faults of a server that adds missing bytes to certain stubs, or removes the high bytes of their values (MS-MQQP
3.1.4).
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.registry import add
from harness.faults.rpc_calls import change_rpc_requests
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method

_CLOSE_CURSOR_OPNUM, _GET_SERVER_PORT_OPNUM = (
    find_method(QM2QM, name) for name in ("RemoteQMCloseCursor", "RemoteQMGetQMQMServerPort")
)
_CLOSE_CURSOR_STUB_BYTES = 8


def _complete_close_cursor_stub(body: Request) -> Request:
    if body.opnum != _CLOSE_CURSOR_OPNUM or not 4 <= len(body.stub) < _CLOSE_CURSOR_STUB_BYTES:
        return body
    return replace(body, stub=body.stub.ljust(_CLOSE_CURSOR_STUB_BYTES, b"\0"))


def _reduce_port_type_to_low_byte(body: Request) -> Request:
    if body.opnum != _GET_SERVER_PORT_OPNUM or len(body.stub) != 4 or body.stub[1:] == bytes(3):
        return body
    return replace(body, stub=body.stub[:1] + bytes(3))


add(
    "server-close-cursor-stub-without-cursor-completed",
    "MQQP-3.1.4-01",
    "The server fills in the missing bytes of hCursor in a stub of RemoteQMCloseCursor.",
    change_rpc_requests(_complete_close_cursor_stub),
    blind=True,
)
add(
    "server-port-type-above-0xff-reduced",
    "MQQP-3.1.4-01",
    "The server uses only the lowest byte of dwPortType in RemoteQMGetQMQMServerPort.",
    change_rpc_requests(_reduce_port_type_to_low_byte),
    blind=True,
)
