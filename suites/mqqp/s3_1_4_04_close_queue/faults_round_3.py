"""Faults that break rules of MS-MQQP 3.1.4.4 RemoteQMCloseQueue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening


@fault("server-close-queue-closes-first-handle-of-same-queue", breaks="MQQP-3.1.4.4-06", blind=True)
class ServerCloseQueueClosesFirstHandleOfSameQueue(RemoteOpening):
    """RemoteQMCloseQueue closes the handle of the queue that was opened first, not the handle of pphContext."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        meant = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if meant is None else meant.QueueReference
        if queue is not None:
            for one in self.qm.remote.OpenQueueEntryCollection:
                if one.OpenQueueDescriptorHandle in queue.OpenQueueDescriptorCollection:
                    super().close_open_queue_entry(one)
                    return
        super().close_open_queue_entry(entry)


@fault("server-close-queue-with-waiting-read-keeps-entry", breaks="MQQP-3.1.4.4-15", blind=True)
class ServerCloseQueueWithWaitingReadKeepsEntry(RemoteOpening):
    """RemoteQMCloseQueue cancels the reads that wait with the handle, but then does not delete the OpenQueueEntry, and
    further reads with the handle succeed.
    """

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        if self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle):
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)
