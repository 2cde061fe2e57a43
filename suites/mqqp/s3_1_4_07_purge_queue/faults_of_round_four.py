"""Faults that break rules of MS-MQQP 3.1.4.7 for a second queue of a server."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.rpc import QM2QM


@fault("client-purges-second-queue-of-server-without-open-queue-call", breaks="MQQP-3.1.4.7-01", blind=True)
class ClientPurgesSecondQueueOfServerWithoutOpenQueueCall(ClientQueueOpening):
    """While another queue of the same server is open, the client purges a queue for which it has not called
    RemoteQMOpenQueue.
    """

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        opened = self.qm.remote_client.RemoteOpenQueueEntryCollection
        first = next((entry for entry in opened if entry.queue.RemoteServer == queue.RemoteServer), None)
        if first is None:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = yield from self.qm.server_bindings.bind_to_server(queue.RemoteServer, QM2QM)
        self.add_remote_open_queue_entry(queue, first.RRSessionHandle)
