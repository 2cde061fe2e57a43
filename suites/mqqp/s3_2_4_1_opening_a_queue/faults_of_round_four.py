"""Faults that break rules of MS-MQQP 3.2.4.1 for a second queue of a server."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RpcBindingHandle


@fault("client-second-queue-of-server-shares-binding-of-first-queue", breaks="MQQP-3.2.4.1-02", blind=True)
class ClientSecondQueueOfServerSharesBindingOfFirstQueue(ClientQueueOpening):
    """The client constructs no binding handle to qm2qm for the second open queue of a server, but uses the binding
    handle of the first queue.
    """

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        known = self._find_binding_of_server(queue)
        if known is None:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = known
        context = yield from self.call_open_queue(queue)
        self.add_remote_open_queue_entry(queue, context)

    def _find_binding_of_server(self, queue: RemoteQueue) -> RpcBindingHandle | None:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            binding = entry.queue.binding
            if entry.queue.RemoteServer == queue.RemoteServer and binding is not None and binding.end_reason is None:
                return binding
        return None
