"""Request the port of qmcomm from the endpoint mapper of a system. Spec: C706 O; MS-RPCE 2.2.1.2.

The call is not authenticated, because a client makes it before it knows anything about the server's security.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from harness.errors import SutUnavailable
from harness.printable import one_line
from harness.wire.rpc import (
    EPT,
    LAST_FRAGMENT_FLAG,
    NDR,
    PDU_HEADER_BYTES,
    QMCOMM,
    Proposal,
    Syntax,
    bind,
    dissect_rpc,
    get_rpc_kind,
    read_rpc_size,
    read_stub,
)
from harness.wire.rpc_ept import EPT_OPERATIONS, build_map_arguments, read_ports
from harness.wire.rpc_fragments import build_request_fragments
from harness.wire.wire_error import WireError

MAPPER_PORT = 135
MAPPER_TIMEOUT_S = 5.0
MAX_REASON_CHARACTERS = 200
_EPT_MAP_OPERATION = EPT_OPERATIONS["ept_map"]


def ask_qmcomm_port(address: str) -> int:
    """Return the port at which a system serves qmcomm. Raise SutUnavailable if the endpoint mapper does not return
    the port.
    """
    found = ask_endpoint_mapper(address, MAPPER_PORT, QMCOMM)
    if isinstance(found, str):
        raise _refuse_unknown_port(address, found)
    if not found:
        raise _refuse_unknown_port(address, "it has no entry for qmcomm")
    return found[0]


def ask_endpoint_mapper(address: str, port: int, interface: Syntax) -> list[int] | str:
    """Request the ports of an RPC interface from the endpoint mapper that listens at ``port``. Return the ports, or
    the reason why no port was returned.
    """
    try:
        with socket.create_connection((address, port), timeout=MAPPER_TIMEOUT_S) as connection:
            return _ask_for_ports(connection, interface)
    except OSError as error:
        return error.strerror or str(error)
    except WireError as error:
        return one_line(str(error), MAX_REASON_CHARACTERS)


def _refuse_unknown_port(address: str, why: str) -> SutUnavailable:
    return SutUnavailable(
        f"driver.rpc_port is 0, and the endpoint mapper at {address}:{MAPPER_PORT} does not return the port of qmcomm: "
        f"{why}; give driver.rpc_port in the SUT file (Windows: 2103)"
    )


def _ask_for_ports(connection: socket.socket, interface: Syntax) -> list[int]:
    ends = time.monotonic() + MAPPER_TIMEOUT_S
    connection.sendall(bytes(bind(1, [Proposal(0, EPT, (NDR,))])))
    if (kind := _read_pdu(connection, ends)[0]) != "bind_ack":
        raise WireError(f"the mapper answered {kind} to a bind")
    for fragment in build_request_fragments(
        2, 0, _EPT_MAP_OPERATION.opnum, _EPT_MAP_OPERATION.build_request(False, **build_map_arguments(interface))
    ):
        connection.sendall(fragment)
    kind, answer = _read_pdu(connection, ends)
    if kind != "response" or not answer.pfc_flags & LAST_FRAGMENT_FLAG:
        raise WireError(f"the mapper answered {kind} to ept_map")
    return [port for port in read_ports(_EPT_MAP_OPERATION.read_response(read_stub(answer), False)) if port]


def _read_pdu(connection: socket.socket, ends: float) -> tuple[str, Any]:
    """Read a PDU before the time ``ends``, which is in seconds of the monotonic clock. Return the kind of the PDU,
    and the PDU itself.
    """
    header = _read_exactly(connection, PDU_HEADER_BYTES, ends)
    size = read_rpc_size(header) or 0
    data = header + _read_exactly(connection, size - PDU_HEADER_BYTES, ends)
    return get_rpc_kind(data), dissect_rpc(data)


def _read_exactly(connection: socket.socket, count: int, ends: float) -> bytes:
    """Read the given number of bytes. Raise WireError if fewer bytes arrive. A PDU has at most 65,535 bytes
    (frag_len).
    """
    data = b""
    while len(data) < count:
        connection.settimeout(max(ends - time.monotonic(), 0.001))
        more = connection.recv(count - len(data))
        if not more:
            raise WireError("the mapper closed the connection")
        data += more
    return data
