"""Faults of MS-MQQP 3.2.4.4 Purging a Queue with several queues and in the second purge."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence


@fault("client-purge-hqueue-of-newest-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeHqueueOfNewestQueue(ClientOpening):
    """The client calls RemoteQMPurgeQueue with the handle of the queue that it opened last."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        newest = list(self.qm.remote_client.queues.values())[-1]
        assert queue.binding is not None
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=newest.QueueHandle)


@fault("client-purge-called-once-per-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeCalledOncePerQueue(ClientOpening):
    """The client does not call RemoteQMPurgeQueue when the same queue is purged again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.purged: set[int] = set()

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        if queue.number not in self.purged:
            self.purged.add(queue.number)
            yield from super().purge_queue_at_server(queue)


@fault("client-purge-with-pending-read-hqueue-is-dwpqueue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeWithPendingReadHqueueIsDwpqueue(ClientOpening):
    """The client calls RemoteQMPurgeQueue with dwpQueue for a queue with pending reads."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        pending = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        assert queue.binding is not None
        handle = queue.QueueDescriptor if pending else queue.QueueHandle
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=handle)


@fault("client-purge-of-every-open-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeOfEveryOpenQueue(ClientOpening):
    """The client calls RemoteQMPurgeQueue for every open queue."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        for one in list(self.qm.remote_client.queues.values()):
            yield from super().purge_queue_at_server(one)
