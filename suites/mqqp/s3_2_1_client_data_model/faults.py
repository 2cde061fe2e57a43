"""Faults that break rules of MS-MQQP 3.2.1 Client data model and of 3.2.1.2 and 3.2.1.4."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening


@fault("client-pending-read-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.2-01")
class ClientPendingReadEntryMissingForFirstOfThree(ClientMessageReading):
    """The client removes the entry of its first pending read when a third read begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry = super().create_pending_read(read)
        if len(entries) > 2:
            del entries[0]
        return entry


@fault("client-open-queue-entry-missing-for-first-of-three", breaks="MQQP-3.2.1.4-01")
class ClientOpenQueueEntryMissingForFirstOfThree(ClientQueueOpening):
    """The client removes the entry of its first queue when it opens a third queue."""

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: Any) -> None:
        super().add_remote_open_queue_entry(queue, context)
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) > 2:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.pop(0)
