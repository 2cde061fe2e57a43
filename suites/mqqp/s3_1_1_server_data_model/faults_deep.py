"""Faults of MS-MQQP 3.1.1.3 and 3.1.1.5 in the collections of the server, which only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.rpc import Call


@fault("server-remote-read-collection-forgets-first-of-three", breaks=("MQQP-3.1.1.3-01", "MQQP-3.1.1.3-02"))
class ServerRemoteReadCollectionForgetsFirstOfThree(RemoteStarting):
    """The server forgets the first waiting read of a handle when a third read begins to wait."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entries = self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])
        if len(entries) >= 2:
            self.qm.remote.RemoteReadEntryCollection.remove(entries[0])
        return super().create_remote_read_entry(call, desc)


@fault("server-remote-read-collection-emptied-by-end-of-read", breaks="MQQP-3.1.1.3-02")
class ServerRemoteReadCollectionEmptiedByEndOfRead(RemoteReads):
    """The server removes the entries of all waiting reads of a handle when one of these reads gets a message."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if entry.UserMessagePacket is not None:
            for one in self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle):
                super().remove_remote_read_entry(one)


@fault("server-open-queue-collection-forgets-queue-after-purge", breaks="MQQP-3.1.1.5-01")
class ServerOpenQueueCollectionForgetsQueueAfterPurge(RemoteOpening):
    """The server removes the entry of an open queue when the queue is purged."""

    def purge_remote_queue(self, call: Call, queue: object) -> None:
        super().purge_remote_queue(call, queue)  # type: ignore[arg-type]
        for entry in self.qm.remote.OpenQueueEntryCollection.of(call.arguments["hQueue"]):
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-collection-close-removes-entries-of-other-queues", breaks="MQQP-3.1.1.5-02")
class ServerOpenQueueCollectionCloseRemovesEntriesOfOtherQueues(RemoteOpening):
    """When a queue is closed, the server also removes the entries of the queues that were opened after this queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        entries = list(self.qm.remote.OpenQueueEntryCollection)
        later = entries[entries.index(entry) + 1 :] if entry in entries else []
        super().close_open_queue_entry(entry)
        for one in later:
            self.qm.remote.OpenQueueEntryCollection.remove(one)
