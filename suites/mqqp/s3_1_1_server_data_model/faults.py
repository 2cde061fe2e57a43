"""Faults of MS-MQQP 3.1.1 Server data model."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_ending import CANCELED_STATUS
from reference_qm.core.remote.remote_opening import RemoteOpening


@fault("server-open-queue-replaces-other-entries", breaks=("MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03"))
class ServerOpenQueueReplacesOtherEntries(RemoteOpening):
    """When a queue is opened, RemoteQMOpenQueue removes all earlier entries from OpenQueueEntryCollection."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            if other is not entry:
                self.qm.remote.OpenQueueEntryCollection.remove(other)


@fault("server-close-queue-cancels-reads-of-other-queues", breaks="MQQP-3.1.1.3-02")
class ServerCloseQueueCancelsReadsOfOtherQueues(RemoteOpening):
    """When one queue is closed, RemoteQMCloseQueue cancels the waiting reads of all queues."""

    def cancel_remote_reads(self, entry: OpenQueueEntry) -> None:
        for read in list(self.qm.remote.reads.values()):
            self.qm.remote_ending.cancel_remote_read(read, CANCELED_STATUS)
