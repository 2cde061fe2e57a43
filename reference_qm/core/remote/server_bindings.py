from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.client_steps import (
    BindStep,
    CallMethodStep,
    CloseBindingStep,
    RemoteCallSequence,
    RemoteError,
    RpcBindingHandle,
)
from reference_qm.core.remote.enums import PortType
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM, QMCOMM, Interface
from reference_qm.surface.inputs import Endpoint

STATUS_FAILURE_BIT = 0x80000000
"""The bit of an HRESULT that is set for a failure. Spec: MS-MQQP 2.2."""

PORT_METHOD_AND_ARGUMENT_BY_INTERFACE = {
    "qm2qm": ("RemoteQMGetQMQMServerPort", "dwPortType"),
    "qmcomm": ("R_QMGetRTQMServerPort", "fIP"),
}
"""For each interface: the method that returns the port of the interface, and the name of the method's argument for
the port type.
"""
PORT_TYPE_BY_INTERFACE = {"qm2qm": PortType.IP_READ, "qmcomm": PortType.IP_HANDSHAKE}
"""For each interface: the port type that the client passes to the method that returns the port."""


class ServerBindings(QueueManagerPart):
    """Constructs RPC binding handles to the interfaces of another queue manager.

    Spec: MS-MQQP 3.2.4.1, 3.1.4.8, MS-MQMP 3.1.4.24.
    """

    __slots__ = ()

    def construct_binding(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        """Construct an RPC binding handle to an interface of a server, and return the handle.

        Spec: MS-MQQP 3.2.4.1.
        """
        return (yield BindStep(server, interface))

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        """Request from a server the port for the other methods of an interface.

        Return the port as an int; raise RemoteError if the server returns no port. Spec: MS-MQQP 3.2.4.1, 3.1.4.8,
        MS-MQMP 3.1.4.24.
        """
        method, parameter = PORT_METHOD_AND_ARGUMENT_BY_INTERFACE[binding.interface.name]
        arguments = {parameter: int(PORT_TYPE_BY_INTERFACE[interface.name])}
        results = yield CallMethodStep(binding, method, arguments, self.qm.settings.remote_call_ms)
        return require_port(method, interface.name, results["Return"])

    def close_binding(self, binding: RpcBindingHandle) -> RemoteCallSequence:
        """Close an RPC binding handle. Spec: MS-MQQP 3.2.4.1."""
        yield CloseBindingStep(binding)

    def bind_to_server(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        """Construct a binding handle at the port that the server returns for an interface, and return the handle.

        Spec: MS-MQQP 3.2.4.1, MS-MQMP 4.2.
        """
        initial = yield from self.construct_initial_binding(server, interface)
        return (yield from self.run_sequence_and_close_binding(initial, self._bind_at_server_port(server, initial)))

    def construct_initial_binding(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        """Construct the binding handle with which the client requests the port of an interface, and return
        the handle.

        No section specifies the port of qm2qm at which a client can make this request. If qm2qm is not available at
        the port of qmcomm, the client requests the port of qm2qm from qmcomm (MS-MQMP 3.1.4.24).
        """
        try:
            return (yield from self.construct_binding(server, interface))
        except RemoteError:
            if interface is not QM2QM:
                raise
        qmcomm = yield from self.construct_binding(server, QMCOMM)
        port = yield from self.run_sequence_and_close_binding(qmcomm, self.ask_server_port(qmcomm, interface))
        return (yield from self.construct_binding(Endpoint(server.host, port), interface))

    def _bind_at_server_port(self, server: Endpoint, initial: RpcBindingHandle) -> RemoteCallSequence:
        port = yield from self.ask_server_port(initial, initial.interface)
        return (yield from self.construct_binding(Endpoint(server.host, port), initial.interface))

    def call_application_method(self, server: Endpoint, method: str, **arguments: object) -> RemoteCallSequence:
        """Call a method of qmcomm with a binding handle that is used only for this call, as in an application. Return
        the results by name.

        Spec: MS-MQMP 3.2.4.
        """
        binding = yield from self.bind_to_server(server, QMCOMM)
        return (yield from self.run_sequence_and_close_binding(binding, self.call_method(binding, method, **arguments)))

    def call_method(self, binding: RpcBindingHandle, method: str, **arguments: object) -> RemoteCallSequence:
        """Call a method that answers at once.

        Return the results by name; raise RemoteError if the method returns a failure HRESULT. The client treats all
        failure HRESULTs identically (MS-MQQP 3.1.4).
        """
        results = yield CallMethodStep(binding, method, arguments, self.qm.settings.remote_call_ms)
        self.check(method, results)
        return results

    def is_failure(self, status: int) -> bool:
        """Return whether a status is a failure HRESULT. The client treats all failures alike.

        Spec: MS-MQQP 2.2, 3.1.4.1.
        """
        return bool(status & STATUS_FAILURE_BIT)

    def check(self, method: str, results: dict[str, object]) -> None:
        """Raise RemoteError if a method returned a failure HRESULT."""
        status = results.get("Return", 0)
        assert isinstance(status, int)
        if self.is_failure(status):
            raise RemoteError(f"{method} returned {format_status(status)}", status)

    def run_sequence_and_close_binding(
        self, binding: RpcBindingHandle, sequence: RemoteCallSequence
    ) -> RemoteCallSequence:
        """Run a sequence, and close a binding handle at the end, even if the sequence fails."""
        try:
            outcome = yield from sequence
        except RemoteError:
            yield from self.close_binding(binding)
            raise
        yield from self.close_binding(binding)
        return outcome


def require_port(method: str, interface: str, port: int) -> int:
    """Return the port that a method returned; raise RemoteError if the port is invalid."""
    if not 0 < port <= 0xFFFF:
        raise RemoteError(f"{method} returned port {port}, so {interface} is not available (MS-MQQP 3.1.4.8)")
    return port


def format_status(status: int) -> str:
    """Return a status as a hexadecimal number, followed by its specified name if it has a name."""
    try:
        return f"{status:#010x} {Status(status).name}"
    except ValueError:
        return f"{status:#010x}"
