"""Faults that break the rule MQQP-3.2.4.1-02 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence


@fault("client-queue-opened-to-peek-shares-binding", breaks="MQQP-3.2.4.1-02", blind=True)
class ClientQueueOpenedToPeekSharesBinding(ClientQueueOpening):
    """The client constructs no binding handle for a queue that it opens to peek while another queue is open."""

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        if queue.may_receive or not entries:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = entries[0].queue.binding
        self.add_remote_open_queue_entry(queue, (yield from self.call_open_queue(queue)))
