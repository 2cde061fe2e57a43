"""Faults of MS-MQQP 3.2.4.1 Opening a Queue, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_steps import Binding, Sequence
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import QM2QM, QMCOMM
from reference_qm.surface.inputs import Endpoint


@fault("client-open-queue-asks-qmcomm-for-server-port", breaks="MQQP-3.2.4.1-03", blind=True)
class ClientOpenQueueAsksQmcommForServerPort(ServerBindings):
    """A client that opens a queue calls R_QMGetRTQMServerPort of qmcomm on a separate binding handle instead of
    RemoteQMGetQMQMServerPort on its first binding handle to qm2qm.
    """

    def _bind_again(self, server: Endpoint, initial: Binding) -> Sequence:
        if initial.interface is not QM2QM:
            return (yield from super()._bind_again(server, initial))
        qmcomm = yield from self.construct_binding(server, QMCOMM)
        port = yield from self.then_close(qmcomm, self.ask_server_port(qmcomm, QM2QM))
        return (yield from self.construct_binding(Endpoint(server.host, port), QM2QM))
