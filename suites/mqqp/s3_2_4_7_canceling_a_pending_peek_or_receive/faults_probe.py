"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry


@fault("client-cancel-removes-oldest-entry-of-queue", breaks="MQQP-3.2.4.7-07", blind=True)
class ClientCancelRemovesOldestEntryOfQueue(ClientCancelling):
    """After a cancellation, the client removes the oldest PendingRemoteReadEntry of the queue instead of the entry of
    the cancelled read.
    """

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        super().remove_cancelled_read(next((one for one in pending if one.queue is entry.queue), entry))
