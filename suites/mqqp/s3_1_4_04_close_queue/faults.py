"""Faults that break rules of MS-MQQP 3.1.4.4 RemoteQMCloseQueue (Opnum 3)."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import combine_installers, omit_step, omit_step_during
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    call_on_unbound_context,
    change_answer_values,
    replace_success_by_error,
    throw_refusals_as_rpc_faults,
)
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

add(
    "server-close-queue-leaves-queue-open",
    ("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"),
    "RemoteQMCloseQueue leaves the queue open.",
    omit_step_during(RemoteQueueOpening.close_open_queue_entry, QueueOpening.close_queue),
)


@fault("server-close-queue-with-waiting-read-keeps-queue-open", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerCloseQueueWithWaitingReadKeepsQueueOpen(RemoteQueueOpening):
    """When a queue with waiting reads is closed, the server cancels the reads, but keeps the queue open until the end
    of the connection.
    """

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        reads = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)
        if reads:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault("server-close-queue-with-open-cursor-keeps-queue-open", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerCloseQueueWithOpenCursorKeepsQueueOpen(RemoteQueueOpening):
    """When a queue with an open cursor is closed, the server does not release the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.CursorCollection:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault("server-does-not-release-closed-queue-opened-to-peek", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"))
class ServerDoesNotReleaseClosedQueueOpenedToPeek(RemoteQueueOpening):
    """When a queue that was opened to peek is closed, the server does not release the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.AccessType.name != "RECEIVE":
            self.qm.remote.OpenQueueEntryCollection.remove(entry)
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)


@fault(
    "server-closed-queue-kept-while-receive-is-unfinished", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"), blind=True
)
class ServerClosedQueueKeptWhileReceiveIsUnfinished(RemoteQueueOpening):
    """The server does not release a closed queue while a receive from the queue is unfinished."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            queue = descriptor.QueueReference
            if any(one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList):
                self.qm.remote.OpenQueueEntryCollection.remove(entry)
                self.cancel_remote_reads(entry)
                return
        super().close_open_queue_entry(entry)


add(
    "client-close-queue-on-unknown-context",
    "MQQP-3.1.4.4-02",
    "The client calls RemoteQMCloseQueue on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCloseQueue"),
)


@fault("server-successful-close-queue-returns-error", breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"))
class ServerSuccessfulCloseQueueReturnsError(RemoteQueueOpening):
    """RemoteQMCloseQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, Return=replace_success_by_error), now)


@fault(
    "server-close-queue-with-waiting-read-returns-error",
    breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"),
    blind=True,
)
class ServerCloseQueueWithWaitingReadReturnsError(RemoteQueueOpening):
    """If a read waits on the handle, RemoteQMCloseQueue closes the queue but returns MQ_ERROR."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        waiting = call.handle is not None and self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(
            call.handle.state.OpenQueueDescriptorHandle
        )
        if waiting:
            assert call.handle is not None
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR, pphContext=None))
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-null-handle-accepted", breaks="MQQP-3.1.4.4-05")
class ServerCloseQueueNullHandleAccepted(RemoteQueueOpening):
    """RemoteQMCloseQueue with the context handle NULL returns MQ_OK."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, Return=Status.MQ_OK), now)


@fault("server-close-queue-closes-every-queue", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", "MQQP-3.1.1.5-02"))
class ServerCloseQueueClosesEveryQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue closes every open queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            super().close_open_queue_entry(one)


@fault("server-close-queue-closes-other-handles-of-queue", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True)
class ServerCloseQueueClosesOtherHandlesOfQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue also closes all other handles of the same queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().close_open_queue_entry(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            found = self.qm.remote_read_starting.find_remote_descriptor(other.OpenQueueDescriptorHandle)
            if mine is not None and found is not None and found.QueueReference is mine.QueueReference:
                super().close_open_queue_entry(other)


@fault("server-close-queue-cancels-reads-of-other-handle", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"))
class ServerCloseQueueCancelsReadsOfOtherHandle(RemoteQueueOpening):
    """When a handle of a queue is closed, the server also cancels the reads that wait on another handle
    of the queue.
    """

    def cancel_remote_reads(self, entry: OpenQueueEntry) -> None:
        super().cancel_remote_reads(entry)
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            other = self.qm.remote_read_starting.find_remote_descriptor(read.OpenQueueDescriptorHandle)
            if mine and other and mine.QueueReference is other.QueueReference:
                self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-close-queue-closes-cursors-of-other-handle", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"))
class ServerCloseQueueClosesCursorsOfOtherHandle(RemoteQueueOpening):
    """When a handle of a queue is closed, the server also closes the cursors of another handle of the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if mine is not None and mine.QueueReference is not None:
            for one in mine.QueueReference.OpenQueueDescriptorCollection.values():
                for cursor in list(one.CursorCollection.values()):
                    self.qm.queue_opening.close_cursor(cursor)
        super().close_open_queue_entry(entry)


@fault("server-close-queue-ends-open-receives-of-other-handles", breaks="MQQP-3.1.4.4-06")
class ServerCloseQueueEndsOpenReceivesOfOtherHandles(RemoteQueueOpening):
    """When a queue is closed, the server returns the messages of unfinished receives of other handles to the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if mine is not None and mine.QueueReference is not None:
            for position in list(mine.QueueReference.MessagePositionList):
                self.qm.message_positions.unlock_message(position)
        super().close_open_queue_entry(entry)


@fault("server-close-queue-removes-all-open-queue-entries-of-client", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.1.5-02"))
class ServerCloseQueueRemovesAllOpenQueueEntriesOfClient(RemoteQueueOpening):
    """When a queue is closed, the server also closes all other queues that were opened with the same ClientId."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(entry)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            if one.ClientId == entry.ClientId:
                super().close_open_queue_entry(one)


@fault("server-close-queue-rewinds-cursors-of-other-handles", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True)
class ServerCloseQueueRewindsCursorsOfOtherHandles(RemoteQueueOpening):
    """RemoteQMCloseQueue moves the cursors of the queue's other handles back to the start of the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        super().close_open_queue_entry(entry)
        if queue is not None:
            for other in queue.OpenQueueDescriptorCollection.values():
                for cursor in other.CursorCollection.values():
                    self.qm.queue_cursors.move_cursor_to_start(cursor)


@fault("server-reads-through-closed-handle-while-other-handle-is-open", breaks="MQQP-3.1.4.4-07")
class ServerReadsThroughClosedHandleWhileOtherHandleIsOpen(RemoteReadStarting):
    """While another handle of the queue is open, the server still reads through a closed handle."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        known = self.__dict__.setdefault("known", {})
        if found is not None:
            known[handle] = found
            return found
        closed = known.get(handle)
        if closed is None or closed.QueueReference is None:
            return None
        return closed if closed.QueueReference.OpenQueueDescriptorCollection else None

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.find_remote_descriptor(desc["hRemoteQueue"]) is not None:
            return Status.MQ_OK
        return super().check_open_queue(desc)


add(
    "server-close-queue-leaves-reads-waiting",
    ("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09", "MQQP-3.1.1.3-03", "MQDMPR-3.1.7.1.6-10"),
    "RemoteQMCloseQueue does not cancel the waiting reads of the queue.",
    combine_installers(
        omit_step(RemoteQueueOpening.cancel_remote_reads),
        omit_step_during(RemoteQueueOpening.close_open_queue_entry, QueueOpening.close_queue),
    ),
)


@fault("server-close-queue-cancels-only-first-waiting-read", breaks=("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09"))
class ServerCloseQueueCancelsOnlyFirstWaitingRead(RemoteQueueOpening):
    """The server cancels only the first read that waits on the closed handle; the other reads are never answered."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in list(descriptor.WaitingMessageReadOperationCollection)[1:]:
                reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-leaves-reads-by-cursor", breaks=("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09"))
class ServerCloseQueueLeavesReadsByCursor(RemoteQueueOpening):
    """If a read by a cursor waits on the closed handle, the server does not end the read."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.CursorReference is not None:
                    reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-leaves-reads-with-timeout", breaks="MQQP-3.1.4.4-09")
class ServerCloseQueueLeavesReadsWithTimeout(RemoteQueueOpening):
    """When a queue is closed, the server ends only the waiting reads without a timeout."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        reads = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)
        left = {read.tag for read in reads if read.Timeout != INFINITE_MS}
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag in left:
                    reader.answered = lambda status, position: None
        super().close_open_queue_entry(entry)


@fault("server-close-queue-keeps-open-queue-entry", breaks="MQQP-3.1.4.4-15")
class ServerCloseQueueKeepsOpenQueueEntry(RemoteQueueOpening):
    """RemoteQMCloseQueue keeps the entry of the closed queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(entry)
        self.qm.remote.OpenQueueEntryCollection.add(entry)


@fault(
    "server-close-queue-returns-closed-context-handle",
    breaks=("MQQP-3.1.4.4-15", "MQQP-3.1.4.4-16", "MQQP-3.1.4.3-10", "MQQP-2.2.1.1-01"),
)
class ServerCloseQueueReturnsClosedContextHandle(RemoteQueueOpening):
    """RemoteQMCloseQueue returns its context handle instead of NULL."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, pphContext=call.handle), now)


add(
    "server-close-queue-throws-errors",
    "MQQP-3.1.4.4-D01",
    "RemoteQMCloseQueue throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteQueueOpening.remote_qm_close_queue),
)


@fault("server-close-queue-of-deleted-queue-raises-exception", breaks="MQQP-3.1.4.4-D01")
class ServerCloseQueueOfDeletedQueueRaisesException(RemoteQueueOpening):
    """The server raises an RPC exception from RemoteQMCloseQueue when the queue was deleted."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            descriptor = self.qm.remote_read_starting.find_remote_descriptor(handle)
            if descriptor is not None and descriptor.QueueReference is None:
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
                return
        super().remote_qm_close_queue(call, now)


@fault("server-close-queue-with-waiting-read-raises-exception", breaks="MQQP-3.1.4.4-D01", blind=True)
class ServerCloseQueueWithWaitingReadRaisesException(RemoteQueueOpening):
    """If a read waits on the handle, RemoteQMCloseQueue closes the queue but raises an RPC exception."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None and self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(
            call.handle.state.OpenQueueDescriptorHandle
        ):
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-closes-first-handle-of-same-queue", breaks="MQQP-3.1.4.4-06", blind=True)
class ServerCloseQueueClosesFirstHandleOfSameQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue closes the handle of the queue that was opened first, not the handle of pphContext."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        meant = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if meant is None else meant.QueueReference
        if queue is not None:
            for one in self.qm.remote.OpenQueueEntryCollection:
                if one.OpenQueueDescriptorHandle in queue.OpenQueueDescriptorCollection:
                    super().close_open_queue_entry(one)
                    return
        super().close_open_queue_entry(entry)


@fault("server-close-queue-with-waiting-read-keeps-open-queue-entry", breaks="MQQP-3.1.4.4-15", blind=True)
class ServerCloseQueueWithWaitingReadKeepsOpenQueueEntry(RemoteQueueOpening):
    """RemoteQMCloseQueue cancels the reads that wait with the handle, but then does not delete the OpenQueueEntry, and
    further reads with the handle succeed.
    """

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        if self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
            self.cancel_remote_reads(entry)
        else:
            super().close_open_queue_entry(entry)
