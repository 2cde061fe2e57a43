"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry


@fault("client-cancel-receive-pqueue-of-last-opened-queue", breaks="MQQP-3.2.4.7-05", blind=True)
class ClientCancelReceivePqueueOfLastOpenedQueue(ClientCancelling):
    """When the client cancels a read, it passes the dwpQueue of the queue that it opened last as pQueue."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        last = [entry.queue, *self.qm.remote_client.queues.values()][-1]
        return super().build_cancel_receive(entry) | {"pQueue": last.QueueDescriptor}
