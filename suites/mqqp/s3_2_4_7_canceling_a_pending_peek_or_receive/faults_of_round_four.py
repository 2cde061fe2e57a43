"""Faults that break rules of MS-MQQP 3.2.4.7 while several reads are pending."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling


@fault(
    "client-cancel-removes-all-pending-read-entries-of-queue",
    breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-07"),
    blind=True,
)
class ClientCancelRemovesAllPendingReadEntriesOfQueue(ClientReadCancelling):
    """When the client cancels a read, it removes every PendingRemoteReadEntry of the queue, and therefore refuses the
    messages of the other pending reads.
    """

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                super().remove_cancelled_read(one)
