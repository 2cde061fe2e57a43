"""Faults of MS-MQQP 3.1.1 Abstract Data Model: entries of different queue handles that contain the same value."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.rpc import Call


@fault("server-remote-read-entry-replaced-by-equal-request-of-other-handle", breaks="MQQP-3.1.1.3-02", blind=True)
class ServerRemoteReadEntryReplacedByEqualRequestOfOtherHandle(RemoteReadStarting):
    """The server finds entries of RemoteReadEntryCollection by dwRequestID alone: a new read replaces the entry of a
    waiting read with the same number, which belongs to a different queue handle.
    """

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        for entry in [*self.qm.remote.RemoteReadEntryCollection]:
            other = entry.OpenQueueDescriptorHandle != desc["hRemoteQueue"]
            if other and entry.RequestId == desc["dwRequestID"]:
                self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return super().create_remote_read_entry(call, desc)


@fault("server-open-queue-entry-replaced-by-second-open-of-client", breaks="MQQP-3.1.1.5-01", blind=True)
class ServerOpenQueueEntryReplacedBySecondOpenOfClient(RemoteQueueOpening):
    """When a client opens a queue a second time, the server removes the entry of the first handle from
    OpenQueueEntryCollection, although this handle is not closed.
    """

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        opened = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        for other in [*self.qm.remote.OpenQueueEntryCollection]:
            if other is entry or other.ClientId != entry.ClientId or opened is None:
                continue
            earlier = self.qm.remote_read_starting.find_remote_descriptor(other.OpenQueueDescriptorHandle)
            if earlier is not None and earlier.QueueReference is opened.QueueReference:
                self.qm.remote.OpenQueueEntryCollection.remove(other)
