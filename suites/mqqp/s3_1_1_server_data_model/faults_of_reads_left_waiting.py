"""Faults with which the server leaves some reads waiting when their queue is closed."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS

CLOSED_QUEUE_READ_RULES = ("MQQP-3.1.1.3-03", "MQQP-3.1.4.4-08")


class CloserLeavingReadsWaiting(RemoteQueueOpening):
    """A part of the queue manager that closes a queue, but leaves some of the queue's reads waiting; a subclass selects
    which.
    """

    def is_left_waiting(self, read: RemoteReadEntry, place: int) -> bool:
        """Return whether a read is left waiting. ``place`` is the number of earlier reads of the queue."""
        raise NotImplementedError

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        reads = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)
        kept = {read.tag for place, read in enumerate(reads) if self.is_left_waiting(read, place)}
        if descriptor is None or not kept:
            super().close_open_queue_entry(entry)
            return
        for read in reads:
            if read.tag not in kept:
                self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)
        waiting, descriptor.WaitingMessageReadOperationCollection = descriptor.WaitingMessageReadOperationCollection, {}
        for read in reads:
            self.qm.remote.RemoteReadEntryCollection.remove(read)
        super().close_open_queue_entry(entry)
        descriptor.WaitingMessageReadOperationCollection = waiting


@fault("server-close-queue-leaves-reads-without-time-limit-waiting", breaks=CLOSED_QUEUE_READ_RULES, blind=True)
class ServerCloseQueueLeavesReadsWithoutTimeLimitWaiting(CloserLeavingReadsWaiting):
    """RemoteQMCloseQueue leaves the reads waiting whose ulTimeout is 0xFFFFFFFF."""

    def is_left_waiting(self, read: RemoteReadEntry, place: int) -> bool:
        return read.Timeout == INFINITE_MS


@fault("server-close-queue-leaves-reads-of-start-receive-waiting", breaks=CLOSED_QUEUE_READ_RULES, blind=True)
class ServerCloseQueueLeavesReadsOfStartReceiveWaiting(CloserLeavingReadsWaiting):
    """RemoteQMCloseQueue leaves the reads waiting that RemoteQMStartReceive started."""

    def is_left_waiting(self, read: RemoteReadEntry, place: int) -> bool:
        return read.call.method.name == "RemoteQMStartReceive"


@fault("server-close-queue-leaves-reads-by-cursor-waiting", breaks=CLOSED_QUEUE_READ_RULES, blind=True)
class ServerCloseQueueLeavesReadsByCursorWaiting(CloserLeavingReadsWaiting):
    """RemoteQMCloseQueue leaves the reads waiting that have a cursor."""

    def is_left_waiting(self, read: RemoteReadEntry, place: int) -> bool:
        second = read.call.arguments.get("lpRemoteReadDesc2")
        desc = read.call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        return bool(desc["hCursor"])


@fault("server-close-queue-leaves-third-read-waiting", breaks=CLOSED_QUEUE_READ_RULES, blind=True)
class ServerCloseQueueLeavesThirdReadWaiting(CloserLeavingReadsWaiting):
    """RemoteQMCloseQueue examines two waiting reads of the queue, and leaves all further reads waiting."""

    def is_left_waiting(self, read: RemoteReadEntry, place: int) -> bool:
        return place >= 2
