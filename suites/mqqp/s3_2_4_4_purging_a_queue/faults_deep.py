"""Faults of MS-MQQP 3.2.4.4 Purging a Queue that only special cases reveal: several queues, and several purges."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence


@fault("client-purge-queue-purges-every-open-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueuePurgesEveryOpenQueue(ClientOpening):
    """The client purges all its open queues when its application purges one of them."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        for one in list(self.qm.remote_client.queues.values()):
            yield from super().purge_queue_at_server(one)


@fault("client-purge-queue-hqueue-of-first-opened-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueHqueueOfFirstOpenedQueue(ClientOpening):
    """The client calls RemoteQMPurgeQueue with the handle of the queue that it opened first."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        first = next(iter(self.qm.remote_client.queues.values()))
        binding = queue.binding
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMPurgeQueue", hQueue=first.QueueHandle)


@fault("client-purge-queue-hqueue-in-16-bits", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueHqueueIn16Bits(ClientOpening):
    """The client sets hQueue of RemoteQMPurgeQueue to the low 16 bits of phQueue."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        handle = queue.QueueHandle & 0xFFFF
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=handle)


@fault("client-second-purge-of-queue-not-called", breaks="MQQP-3.2.4.4-D01")
class ClientSecondPurgeOfQueueNotCalled(ClientOpening):
    """The client calls RemoteQMPurgeQueue only for the first purge of a queue."""

    purged: frozenset[int] = frozenset()

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        if queue.number not in self.purged:
            self.purged |= {queue.number}
            yield from super().purge_queue_at_server(queue)
