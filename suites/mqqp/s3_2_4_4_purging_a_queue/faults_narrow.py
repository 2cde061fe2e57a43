"""Faults of MS-MQQP 3.2.4.4 Purging a Queue that only a waiting read or an open cursor reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence


@fault("client-purge-queue-not-called-while-read-is-pending", breaks="MQQP-3.2.4.4-D01", blind=True)
class ClientPurgeQueueNotCalledWhileReadIsPending(ClientOpening):
    """The client does not call RemoteQMPurgeQueue while a read of the queue waits."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        if not any(one.queue is queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().purge_queue_at_server(queue)


@fault("client-purge-queue-not-called-while-cursor-is-open", breaks="MQQP-3.2.4.4-D01", blind=True)
class ClientPurgeQueueNotCalledWhileCursorIsOpen(ClientOpening):
    """The client does not call RemoteQMPurgeQueue while a cursor of the queue is open."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        if not any(owner is queue for owner, _ in self.qm.remote_client.cursors.values()):
            yield from super().purge_queue_at_server(queue)
