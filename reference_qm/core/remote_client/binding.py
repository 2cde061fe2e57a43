"""RPC binding handles to the interfaces of another queue manager. Spec: MS-MQQP 3.2.4.1, 3.1.4.8, MS-MQMP 3.1.4.24."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote_client.model import RemoteError, Sequence
from reference_qm.core.remote_client.running import Bind, Binding, CallMethod, Close
from reference_qm.model.statuses import Status
from reference_qm.rpc import QMCOMM
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.rpc import Interface

FAILURE = 0x80000000
"""The severity bit of an HRESULT. Spec: MS-MQQP 2.2."""

PORT_CALLS = {
    "qm2qm": ("RemoteQMGetQMQMServerPort", "dwPortType", PortType.IP_READ),
    "qmcomm": ("R_QMGetRTQMServerPort", "fIP", PortType.IP_HANDSHAKE),
}
"""The method of each interface that tells the port for its other methods, its parameter and what is asked for."""


def construct_binding(qm: QueueManager, server: Endpoint, interface: Interface) -> Sequence:
    """Construct an RPC binding handle to an interface of a server. Spec: MS-MQQP 3.2.4.1. Returns a Binding."""
    return (yield Bind(server, interface))


def ask_server_port(qm: QueueManager, binding: Binding) -> Sequence:
    """Ask for the port of the other methods of an interface; RemoteError when it is not told. Returns int.

    Spec: MS-MQQP 3.2.4.1, 3.1.4.8.
    """
    method, parameter, wanted = PORT_CALLS[binding.interface.name]
    results = yield CallMethod(binding, method, {parameter: int(wanted)}, qm.settings.remote_call_ms)
    port: int = results["Return"]
    if not 0 < port <= 0xFFFF:
        raise RemoteError(f"{method} returned {port}: {binding.interface.name} is not available (MS-MQQP 3.1.4.8)")
    return port


def close_binding(qm: QueueManager, binding: Binding) -> Sequence:
    """Close an RPC binding handle. Spec: MS-MQQP 3.2.4.1."""
    yield Close(binding)


def bind_to_server(qm: QueueManager, server: Endpoint, interface: Interface) -> Sequence:
    """Construct the binding handle that calls are made on: at the port that the server tells. Returns a Binding.

    Spec: MS-MQQP 3.2.4.1, MS-MQMP 4.2.
    """
    initial = yield from qm.procedures.construct_binding(qm, server, interface)
    return (yield from then_close(qm, initial, _bind_again(qm, server, initial)))


def _bind_again(qm: QueueManager, server: Endpoint, initial: Binding) -> Sequence:
    port = yield from qm.procedures.ask_server_port(qm, initial)
    return (yield from qm.procedures.construct_binding(qm, Endpoint(server.host, port), initial.interface))


def call_application_method(qm: QueueManager, server: Endpoint, method: str, **arguments: object) -> Sequence:
    """Call a method of qmcomm on a binding of its own, as an application does. Returns its results by name.

    Spec: MS-MQMP 3.2.4.
    """
    binding = yield from bind_to_server(qm, server, QMCOMM)
    return (yield from then_close(qm, binding, call_method(qm, binding, method, **arguments)))


def call_method(qm: QueueManager, binding: Binding, method: str, **arguments: object) -> Sequence:
    """Call a method that answers at once. Returns its results by name; RemoteError for a failure that it returns.

    The client treats all failure HRESULTs identically (MS-MQQP 3.1.4): those with the severity bit set (2.2).
    """
    results = yield CallMethod(binding, method, arguments, qm.settings.remote_call_ms)
    check(qm, method, results)
    return results


def is_failure(qm: QueueManager, status: int) -> bool:
    """Is a status a failure HRESULT? All of them are treated identically. Spec: MS-MQQP 2.2, 3.1.4.1."""
    return bool(status & FAILURE)


def check(qm: QueueManager, method: str, results: dict[str, object]) -> None:
    """Raise RemoteError when a method returned a failure HRESULT."""
    status = results.get("Return", 0)
    assert isinstance(status, int)
    if qm.procedures.is_failure(qm, status):
        raise RemoteError(f"{method} returned {name_of(status)}", status)


def name_of(status: int) -> str:
    """Name a status."""
    try:
        return f"{status:#010x} {Status(status).name}"
    except ValueError:
        return f"{status:#010x}"


def then_close(qm: QueueManager, binding: Binding, sequence: Sequence) -> Sequence:
    """Carry out a sequence, and close a binding handle whatever came of it."""
    try:
        outcome = yield from sequence
    except RemoteError:
        yield from qm.procedures.close_binding(qm, binding)
        raise
    yield from qm.procedures.close_binding(qm, binding)
    return outcome
