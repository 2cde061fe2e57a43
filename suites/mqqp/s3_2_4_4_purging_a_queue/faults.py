"""Faults of MS-MQQP 3.2.4.4 Purging a Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_sequence
from harness.faults.registry import add
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence

add(
    "client-purge-queue-not-called",
    "MQQP-3.2.4.4-D01",
    "The client does not call RemoteQMPurgeQueue.",
    skip_sequence(ClientOpening.purge_queue_at_server),
)


@fault("client-purge-queue-by-descriptor", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueByDescriptor(ClientOpening):
    """The client calls RemoteQMPurgeQueue with dwpQueue instead of phQueue."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        arguments = {"hQueue": queue.QueueDescriptor}
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", **arguments)


@fault("client-purge-queue-of-last-opened-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueOfLastOpenedQueue(ClientOpening):
    """The client purges the queue that it opened last instead of the queue that its application names."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        *_, last = self.qm.remote_client.queues.values()
        yield from super().purge_queue_at_server(last)
