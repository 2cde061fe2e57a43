"""Faults of MS-MQQP 3.1.4.4 RemoteQMCloseQueue that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_ending import CANCELED_STATUS
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-close-queue-cancels-only-first-waiting-read", breaks=("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09"))
class ServerCloseQueueCancelsOnlyFirstWaitingRead(RemoteOpening):
    """The server cancels only the first read that waits on the closed handle; the other reads are never answered."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in list(descriptor.WaitingMessageReadOperationCollection)[1:]:
                reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-leaves-reads-by-cursor", breaks=("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09"))
class ServerCloseQueueLeavesReadsByCursor(RemoteOpening):
    """If a read by a cursor waits on the closed handle, the server does not end the read."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.CursorReference is not None:
                    reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-leaves-reads-with-timeout", breaks="MQQP-3.1.4.4-09")
class ServerCloseQueueLeavesReadsWithTimeout(RemoteOpening):
    """When a queue is closed, the server ends only the waiting reads without a timeout."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        reads = self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle)
        left = {read.tag for read in reads if read.Timeout != INFINITE_MS}
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag in left:
                    reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-cancels-reads-of-other-handle", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"))
class ServerCloseQueueCancelsReadsOfOtherHandle(RemoteOpening):
    """When a handle of a queue is closed, the server also cancels the reads that wait on another handle
    of the queue.
    """

    def cancel_remote_reads(self, entry: OpenQueueEntry) -> None:
        super().cancel_remote_reads(entry)
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            other = self.qm.remote_starting.find_remote_descriptor(read.OpenQueueDescriptorHandle)
            if mine and other and mine.QueueReference is other.QueueReference:
                self.qm.remote_ending.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-close-queue-closes-cursors-of-other-handle", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"))
class ServerCloseQueueClosesCursorsOfOtherHandle(RemoteOpening):
    """When a handle of a queue is closed, the server also closes the cursors of another handle of the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if mine is not None and mine.QueueReference is not None:
            for one in mine.QueueReference.OpenQueueDescriptorCollection.values():
                for cursor in list(one.CursorCollection.values()):
                    self.qm.queue_opening.close_cursor(cursor)
        super().close_open_queue_entry(entry)


@fault("server-close-queue-ends-open-receives-of-other-handles", breaks="MQQP-3.1.4.4-06")
class ServerCloseQueueEndsOpenReceivesOfOtherHandles(RemoteOpening):
    """When a queue is closed, the server returns the messages of unfinished receives of other handles to the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if mine is not None and mine.QueueReference is not None:
            for position in list(mine.QueueReference.MessagePositionList):
                self.qm.positions.unlock_message(position)
        super().close_open_queue_entry(entry)


@fault("server-close-queue-with-waiting-read-keeps-queue-open", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerCloseQueueWithWaitingReadKeepsQueueOpen(RemoteOpening):
    """When a queue with waiting reads is closed, the server cancels the reads, but keeps the queue open until the end
    of the connection.
    """

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        reads = self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle)
        if reads:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault("server-close-queue-with-open-cursor-keeps-queue-open", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerCloseQueueWithOpenCursorKeepsQueueOpen(RemoteOpening):
    """When a queue with an open cursor is closed, the server does not release the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.CursorCollection:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault("server-close-queue-of-peek-handle-not-released", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerCloseQueueOfPeekHandleNotReleased(RemoteOpening):
    """When a queue that was opened to peek is closed, the server does not release the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.AccessType.name != "RECEIVE":
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault("server-close-queue-of-deleted-queue-thrown", breaks="MQQP-3.1.4.4-D01")
class ServerCloseQueueOfDeletedQueueThrown(RemoteOpening):
    """The server raises an RPC exception from RemoteQMCloseQueue when the queue was deleted."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            descriptor = self.qm.remote_starting.find_remote_descriptor(handle)
            if descriptor is not None and descriptor.QueueReference is None:
                self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
                return
        super().remote_qm_close_queue(call, now)


@fault("server-close-queue-removes-every-entry-of-client", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.1.5-02"))
class ServerCloseQueueRemovesEveryEntryOfClient(RemoteOpening):
    """When a queue is closed, the server also closes all other queues that were opened with the same ClientId."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(entry)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            if one.ClientId == entry.ClientId:
                super().close_open_queue_entry(one)
