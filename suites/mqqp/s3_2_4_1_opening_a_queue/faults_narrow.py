"""Faults of MS-MQQP 3.2.4.1 Opening a Queue that affect only a second queue, a failed call or an unanswered call."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, CallMethod, RemoteError, Sequence
from reference_qm.core.remote.server_bindings import ServerBindings, require_port
from reference_qm.rpc import QM2QM
from reference_qm.rpc.interfaces import Interface


@fault("client-second-open-queue-asks-port-of-handshake", breaks="MQQP-3.2.4.1-03", blind=True)
class ClientSecondOpenQueueAsksPortOfHandshake(ServerBindings):
    """The client calls RemoteQMGetQMQMServerPort with IP_HANDSHAKE when it has another queue open."""

    def ask_server_port(self, binding: Binding, interface: Interface) -> Sequence:
        if interface is not QM2QM or not self.qm.remote_client.queues or binding.interface is not QM2QM:
            return (yield from super().ask_server_port(binding, interface))
        method = "RemoteQMGetQMQMServerPort"
        results = yield CallMethod(binding, method, {"dwPortType": 0}, self.qm.settings.remote_call_ms)
        return require_port(method, interface.name, results["Return"])


@fault("client-entry-of-refused-open-added", breaks="MQQP-3.2.4.1-20", blind=True)
class ClientEntryOfRefusedOpenAdded(ClientOpening):
    """When RemoteQMOpenQueue failed, the client still adds a RemoteOpenQueueEntry for the queue."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        try:
            return (yield from super().call_open_queue(queue))
        except RemoteError:
            self.add_remote_open_queue(queue, NULL_GUID)
            raise


@fault("client-open-queue-timeout-ten-minutes", breaks="MQQP-3.2.4.1-15", blind=True)
class ClientOpenQueueTimeoutTenMinutes(ClientOpening):
    """The client cancels an unanswered RemoteQMOpenQueue after ten minutes."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        limit = 2 * self.qm.settings.remote_call_ms
        results = yield CallMethod(queue.binding, "RemoteQMOpenQueue", self.build_open_queue(queue), limit)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]


@fault("client-second-open-queue-not-cancelled", breaks="MQQP-3.2.4.1-15", blind=True)
class ClientSecondOpenQueueNotCancelled(ClientOpening):
    """The client never cancels an unanswered RemoteQMOpenQueue while it has another queue open."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        limit = None if self.qm.remote_client.queues else self.qm.settings.remote_call_ms
        results = yield CallMethod(queue.binding, "RemoteQMOpenQueue", self.build_open_queue(queue), limit)
        self.qm.server_bindings.check("RemoteQMOpenQueue", results)
        return results["phContext"]
