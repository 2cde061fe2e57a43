"""Faults in the port that a server returned: MQQP-3.2.4.1-04."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError, RpcBindingHandle
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import Interface

HIGHEST_PORT = 0xFFFF


@fault("client-does-not-open-queue-at-port-65535", breaks="MQQP-3.2.4.1-04")
class ClientDoesNotOpenQueueAtPort65535(ServerBindings):
    """When RemoteQMGetQMQMServerPort returns port 65535, the client does not open the queue."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        if port == HIGHEST_PORT:
            raise RemoteError(f"the port {port} is too high")
        return port
