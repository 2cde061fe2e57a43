"""Faults that break rules of MS-MQQP 3.1.1 Server data model and of 3.1.1.3 and 3.1.1.5."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-forgets-first-of-three-waiting-reads", breaks=("MQQP-3.1.1.3-01", "MQQP-3.1.1.3-02"))
class ServerForgetsFirstOfThreeWaitingReads(RemoteReadStarting):
    """The server forgets the first waiting read of a handle when a third read begins to wait."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        if len(entries) >= 2:
            self.qm.remote.RemoteReadEntryCollection.remove(entries[0])
        return super().create_remote_read_entry(call, desc)


class _RemoteReadEntryOmitter(RemoteReadStarting):
    """Forget the entries of some reads; a subclass selects which."""

    def is_read_entry_omitted(self, entry: RemoteReadEntry, desc: ReadDescription) -> bool:
        raise NotImplementedError

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if self.is_read_entry_omitted(entry, desc):
            self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry


@fault("server-adds-no-remote-read-entry-for-read-by-cursor", breaks="MQQP-3.1.1.3-01")
class ServerAddsNoRemoteReadEntryForReadByCursor(_RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a read by a cursor."""

    def is_read_entry_omitted(self, entry: RemoteReadEntry, desc: ReadDescription) -> bool:
        return bool(desc["hCursor"])


@fault("server-adds-no-remote-read-entry-for-third-read-of-handle", breaks="MQQP-3.1.1.3-01")
class ServerAddsNoRemoteReadEntryForThirdReadOfHandle(_RemoteReadEntryOmitter):
    """The server keeps at most two RemoteReadEntry elements of a handle."""

    def is_read_entry_omitted(self, entry: RemoteReadEntry, desc: ReadDescription) -> bool:
        return len(self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)) > 2


@fault("server-adds-no-remote-read-entry-for-waiting-start-receive", breaks="MQQP-3.1.1.3-01")
class ServerAddsNoRemoteReadEntryForWaitingStartReceive(_RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a RemoteQMStartReceive."""

    def is_read_entry_omitted(self, entry: RemoteReadEntry, desc: ReadDescription) -> bool:
        return entry.call.method.name == "RemoteQMStartReceive"


@fault("server-purge-forgets-waiting-reads", breaks="MQQP-3.1.1.3-01", blind=True)
class ServerPurgeForgetsWaitingReads(RemoteQueueOpening):
    """After a purge of a queue, RemoteQMCancelReceive does not find the reads that wait through the handle of the
    purge.
    """

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for entry in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(call.arguments["hQueue"]):
            self.qm.remote.RemoteReadEntryCollection.remove(entry)


@fault("server-close-queue-cancels-reads-of-other-queues", breaks="MQQP-3.1.1.3-02")
class ServerCloseQueueCancelsReadsOfOtherQueues(RemoteQueueOpening):
    """When one queue is closed, RemoteQMCloseQueue cancels the waiting reads of all queues."""

    def cancel_remote_reads(self, entry: OpenQueueEntry) -> None:
        for read in list(self.qm.remote.reads.values()):
            self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-cancel-removes-reads-of-other-queues-with-same-request-id", breaks="MQQP-3.1.1.3-02", blind=True)
class ServerCancelRemovesReadsOfOtherQueuesWithSameRequestId(RemoteReadEnding):
    """RemoteQMCancelReceive also removes the waiting reads of other queues that have the same dwRequestID."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(call, now)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            if read.RequestId == call.arguments["dwRequestID"]:
                self.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-removes-entries-of-all-waiting-reads-when-one-read-ends", breaks="MQQP-3.1.1.3-02")
class ServerRemovesEntriesOfAllWaitingReadsWhenOneReadEnds(RemoteReads):
    """The server removes the entries of all waiting reads of a handle when one of these reads gets a message."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if entry.UserMessagePacket is not None:
            for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
                super().remove_remote_read_entry(one)


@fault("server-read-replaces-entry-of-other-handle-with-same-request-id", breaks="MQQP-3.1.1.3-02")
class ServerReadReplacesEntryOfOtherHandleWithSameRequestId(RemoteReadStarting):
    """When a read begins, the server removes the entry of a different handle that has the same dwRequestID."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        for one in list(self.qm.remote.RemoteReadEntryCollection):
            if one.RequestId == desc["dwRequestID"]:
                self.qm.remote.RemoteReadEntryCollection.remove(one)
        return super().create_remote_read_entry(call, desc)


@fault("server-finished-read-removes-equal-request-id-of-other-handle", breaks="MQQP-3.1.1.3-02")
class ServerFinishedReadRemovesEqualRequestIdOfOtherHandle(RemoteReads):
    """When a read ends, the server also removes the RemoteReadEntry of a different handle that has the same
    dwRequestID.
    """

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        for one in list(self.qm.remote.RemoteReadEntryCollection):
            if one.RequestId == entry.RequestId:
                self.qm.remote.RemoteReadEntryCollection.remove(one)


@fault("server-finished-read-removes-all-read-entries-of-handle", breaks="MQQP-3.1.1.3-02")
class ServerFinishedReadRemovesAllReadEntriesOfHandle(RemoteReads):
    """The server removes all RemoteReadEntry elements of a handle when a read of the handle returns a message."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is not None:
            for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
                self.qm.remote.RemoteReadEntryCollection.remove(one)


class _CloserCancellingSelectedReads(RemoteQueueOpening):
    """Cancel only some reads of a queue that is closed; the others stay pending."""

    def select_cancelled_reads(self, reads: list[RemoteReadEntry]) -> list[RemoteReadEntry]:
        raise NotImplementedError

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        handle = entry.OpenQueueDescriptorHandle
        reads = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(handle)
        chosen = self.select_cancelled_reads(reads)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(handle)
        if descriptor is not None and len(chosen) < len(reads):
            for read in chosen:
                self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self._remove_queue_descriptor(descriptor)
        else:
            super().close_open_queue_entry(entry)

    def _remove_queue_descriptor(self, descriptor: OpenQueueDescriptor) -> None:
        self.qm.descriptors.pop(descriptor.Handle, None)


@fault("server-close-cancels-only-first-two-reads", breaks="MQQP-3.1.1.3-03")
class ServerCloseCancelsOnlyFirstTwoReads(_CloserCancellingSelectedReads):
    """The server cancels only the first two waiting reads of a closed queue."""

    def select_cancelled_reads(self, reads: list[RemoteReadEntry]) -> list[RemoteReadEntry]:
        return reads[:2]


@fault("server-close-cancels-only-reads-of-start-receive2", breaks="MQQP-3.1.1.3-03")
class ServerCloseCancelsOnlyReadsOfStartReceive2(_CloserCancellingSelectedReads):
    """The server cancels only the waiting reads of RemoteQMStartReceive2 of a closed queue."""

    def select_cancelled_reads(self, reads: list[RemoteReadEntry]) -> list[RemoteReadEntry]:
        return [one for one in reads if one.call.method.name == "RemoteQMStartReceive2"]


@fault("server-purge-queue-removes-entry-of-open-queue", breaks="MQQP-3.1.1.5-01")
class ServerPurgeQueueRemovesEntryOfOpenQueue(RemoteQueueOpening):
    """The server removes the entry of an open queue when the queue is purged."""

    def purge_remote_queue(self, call: Call, queue: object) -> None:
        super().purge_remote_queue(call, queue)  # type: ignore[arg-type]
        for entry in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(call.arguments["hQueue"]):
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


class _OpenQueueEntryRemover(RemoteQueueOpening):
    """Drop the entry of an opened queue."""

    def drop(self, handle: int) -> None:
        for one in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(handle):
            self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault("server-open-queue-entry-removed-by-purge", breaks="MQQP-3.1.1.5-01")
class ServerOpenQueueEntryRemovedByPurge(_OpenQueueEntryRemover):
    """The server removes the OpenQueueEntry of a queue that RemoteQMPurgeQueue has purged."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(call, now)
        self.drop(call.arguments["hQueue"])


@fault("server-open-queue-entry-removed-by-close-of-cursor", breaks="MQQP-3.1.1.5-01")
class ServerOpenQueueEntryRemovedByCloseOfCursor(_OpenQueueEntryRemover):
    """The server removes the OpenQueueEntry of a queue when a cursor of its handle is closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(call, now)
        self.drop(call.arguments["hQueue"])


@fault("server-open-queue-entry-removed-by-timed-out-read", breaks="MQQP-3.1.1.5-01")
class ServerOpenQueueEntryRemovedByTimedOutRead(RemoteReads):
    """The server removes the OpenQueueEntry of a queue when a read of its handle has waited and timed out."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_IO_TIMEOUT and entry.Timeout:
            for one in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
                self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault("server-open-queue-removes-all-earlier-open-queue-entries", breaks=("MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03"))
class ServerOpenQueueRemovesAllEarlierOpenQueueEntries(RemoteQueueOpening):
    """When a queue is opened, RemoteQMOpenQueue removes all earlier entries from OpenQueueEntryCollection."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            if other is not entry:
                self.qm.remote.OpenQueueEntryCollection.remove(other)


@fault("server-close-queue-removes-open-queue-entries-of-later-queues", breaks="MQQP-3.1.1.5-02")
class ServerCloseQueueRemovesOpenQueueEntriesOfLaterQueues(RemoteQueueOpening):
    """When a queue is closed, the server also removes the entries of the queues that were opened after this queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        entries = list(self.qm.remote.OpenQueueEntryCollection)
        later = entries[entries.index(entry) + 1 :] if entry in entries else []
        super().close_open_queue_entry(entry)
        for one in later:
            self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault("server-open-queue-entry-removed-by-third-opening-of-client", breaks=("MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03"))
class ServerOpenQueueEntryRemovedByThirdOpeningOfClient(RemoteQueueOpening):
    """The server keeps only two OpenQueueEntry elements of a client: a third one replaces the first one."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        collection = self.qm.remote.OpenQueueEntryCollection
        own = [one for one in collection if one.ClientId == entry.ClientId]
        for one in own[:-2]:
            collection.remove(one)


@fault("server-close-queue-also-removes-newest-open-queue-entry", breaks="MQQP-3.1.1.5-02")
class ServerCloseQueueAlsoRemovesNewestOpenQueueEntry(RemoteQueueOpening):
    """When a client closes a queue, the server also removes the newest OpenQueueEntry of the client."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        state = None if call.handle is None else call.handle.state
        super().remote_qm_close_queue(call, now)
        collection = self.qm.remote.OpenQueueEntryCollection
        own = [one for one in collection if state is not None and one.ClientId == state.ClientId]
        for one in own[-1:]:
            collection.remove(one)


@fault("server-close-queue-removes-entries-of-other-handles-of-queue", breaks="MQQP-3.1.1.5-02")
class ServerCloseQueueRemovesEntriesOfOtherHandlesOfQueue(RemoteQueueOpening):
    """The server removes the OpenQueueEntry elements of all handles of a queue when one handle is closed."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().close_open_queue_entry(entry)
        if descriptor is not None and descriptor.QueueReference is not None:
            for handle in descriptor.QueueReference.OpenQueueDescriptorCollection:
                for one in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(handle):
                    self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault(
    "server-open-queue-replaces-entry-of-client-with-other-p-lic-guid", breaks=("MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03")
)
class ServerOpenQueueReplacesEntryOfClientWithOtherPLicGuid(RemoteQueueOpening):
    """The server keeps one OpenQueueEntry per queue for clients with a different pLicGuid: a new client replaces the
    entry of the earlier client.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: dict[int, OpenQueueEntry] = {}

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            earlier = self.seen.get(id(descriptor.QueueReference))
            if earlier is not None and earlier.ClientId != entry.ClientId:
                self.qm.remote.OpenQueueEntryCollection.remove(earlier)
            self.seen[id(descriptor.QueueReference)] = entry
