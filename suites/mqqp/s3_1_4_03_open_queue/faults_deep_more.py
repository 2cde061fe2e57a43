"""Fault of MS-MQQP 3.1.4.3 that only a second opening of a queue reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue


@fault("server-open-queue-after-close-refused", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.4.4-01"))
class ServerOpenQueueAfterCloseRefused(RemoteOpening):
    """When a queue was opened and closed for remote reading, the server refuses all later reads of the queue, even
    through a new handle.
    """

    closed: tuple[Queue, ...] = ()

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            self.closed += (descriptor.QueueReference,)
        super().close_open_queue_entry(entry)

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference in self.closed:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
