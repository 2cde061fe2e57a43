"""Faults of MS-MQQP 3.2.1, and of the calls of a client in 3.1.4, that only several reads or queues reveal."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_reading import ClientReading

FAILURE_RULE_BY_METHOD = {
    "RemoteQMStartReceive": "MQQP-3.1.4.1-10",
    "RemoteQMStartReceive2": "MQQP-3.1.4.10-10",
    "RemoteQMEndReceive": "MQQP-3.1.4.2-08",
    "RemoteQMOpenQueue": "MQQP-3.1.4.3-12",
    "RemoteQMCloseQueue": "MQQP-3.1.4.4-03",
    "RemoteQMCloseCursor": "MQQP-3.1.4.5-03",
    "RemoteQMCancelReceive": "MQQP-3.1.4.6-05",
    "RemoteQMPurgeQueue": "MQQP-3.1.4.7-03",
    "RemoteQMStartReceiveByLookupId": "MQQP-3.1.4.11-18",
}
"""For each method, the rule that the client treats all failures of this method alike."""


@fault("client-pending-read-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.2-01")
class ClientPendingReadEntryMissingForFirstOfThree(ClientReading):
    """The client removes the entry of its first pending read when a third read begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry = super().create_pending_read(read)
        if len(entries) > 2:
            del entries[0]
        return entry


@fault("client-open-queue-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.4-01")
class ClientOpenQueueEntryMissingForFirstOfThree(ClientOpening):
    """The client removes the entry of its first queue when it opens a third queue."""

    def add_remote_open_queue(self, queue: RemoteQueue, context: Any) -> None:
        super().add_remote_open_queue(queue, context)
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) > 2:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.pop(0)
