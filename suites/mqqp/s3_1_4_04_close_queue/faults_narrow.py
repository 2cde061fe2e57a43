"""Faults of MS-MQQP 3.1.4.4 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault(
    "server-close-queue-with-unfinished-receive-not-released", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"), blind=True
)
class ServerCloseQueueWithUnfinishedReceiveNotReleased(RemoteOpening):
    """The server does not release a closed queue while a receive from the queue is unfinished."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            queue = descriptor.QueueReference
            if any(one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList):
                self.qm.remote.OpenQueueEntryCollection.remove(entry)
                self.cancel_remote_reads(entry)
                return
        super().close_open_queue_entry(entry)


@fault(
    "server-close-queue-second-time-returns-null-handle-error",
    breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"),
    blind=True,
)
class ServerCloseQueueSecondTimeReturnsNullHandleError(RemoteOpening):
    """If a read waits on the handle, RemoteQMCloseQueue closes the queue but returns MQ_ERROR."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        waiting = call.handle is not None and self.qm.remote.RemoteReadEntryCollection.of(
            call.handle.state.OpenQueueDescriptorHandle
        )
        if waiting:
            assert call.handle is not None
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR, pphContext=None))
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-with-waiting-read-thrown", breaks="MQQP-3.1.4.4-D01", blind=True)
class ServerCloseQueueWithWaitingReadThrown(RemoteOpening):
    """If a read waits on the handle, RemoteQMCloseQueue closes the queue but raises an RPC exception."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None and self.qm.remote.RemoteReadEntryCollection.of(
            call.handle.state.OpenQueueDescriptorHandle
        ):
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_close_queue(call, now)


@fault(
    "server-close-queue-second-entry-of-handle-removed-too", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True
)
class ServerCloseQueueSecondEntryOfHandleRemovedToo(RemoteOpening):
    """RemoteQMCloseQueue moves the cursors of the queue's other handles back to the start of the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        super().close_open_queue_entry(entry)
        if queue is not None:
            for other in queue.OpenQueueDescriptorCollection.values():
                for cursor in other.CursorCollection.values():
                    self.qm.cursors.rewind(cursor)
