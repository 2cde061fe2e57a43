"""Faults of RemoteQMCloseQueue for a queue with unfinished reads, a queue opened to peek, and a deleted queue."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context, change_answer_values
from harness.faults.thrown_refusals import throw_status_as_fault_if
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


def _has_unfinished_receive(call: Call) -> bool:
    """Return whether the client has received a message of the queue and not called RemoteQMEndReceive."""
    if call.handle is None or call.association.group is None:
        return False
    states = [handle.state for handle in call.association.group.handles.values()]
    return any(
        isinstance(one, RemoteReadEntry)
        and not one.ended
        and one.OpenQueueDescriptorHandle == call.handle.state.OpenQueueDescriptorHandle
        for one in states
    )


def _is_deleted(qm: QueueManager, call: Call) -> bool:
    """Return whether the queue of a call was deleted after the client had opened it."""
    if call.handle is None:
        return False
    entry: OpenQueueEntry = call.handle.state
    descriptor = qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
    return descriptor is not None and descriptor.QueueReference is None


@fault("server-close-queue-keeps-entry-if-receive-is-unfinished", breaks="MQQP-3.1.4.4-07", blind=True)
class ServerCloseQueueKeepsEntryIfReceiveIsUnfinished(RemoteQueueOpening):
    """RemoteQMCloseQueue keeps the entry of a queue from which a message was received, but not yet acknowledged."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if _has_unfinished_receive(call):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, pphContext=None))
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-keeps-entry-of-queue-opened-to-peek", breaks="MQQP-3.1.4.4-07", blind=True)
class ServerCloseQueueKeepsEntryOfQueueOpenedToPeek(RemoteQueueOpening):
    """RemoteQMCloseQueue keeps the entry of a queue that was opened to peek."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.AccessType is not QueueAccessType.PEEK:
            super().close_open_queue_entry(entry)


@fault("server-close-queue-keeps-context-handle-while-read-waits", breaks="MQQP-3.1.4.4-15", blind=True)
class ServerCloseQueueKeepsContextHandleWhileReadWaits(RemoteQueueOpening):
    """RemoteQMCloseQueue returns the context handle unchanged if a read of the queue waits, and the handle stays
    valid.
    """

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        handle = call.handle
        if handle is not None:
            entry: OpenQueueEntry = handle.state
            if self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
                call = change_answer_values(call, pphContext=handle)
        super().remote_qm_close_queue(call, now)


@fault("server-close-queue-keeps-context-handle-of-deleted-queue", breaks="MQQP-3.1.4.4-15", blind=True)
class ServerCloseQueueKeepsContextHandleOfDeletedQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue returns the context handle unchanged if the queue was deleted, and the handle stays valid."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if _is_deleted(self.qm, call):
            call = change_answer_values(call, pphContext=call.handle)
        super().remote_qm_close_queue(call, now)


@fault("server-close-queue-throws-status-for-deleted-queue", breaks="MQQP-3.1.4.4-D01", blind=True)
class ServerCloseQueueThrowsStatusForDeletedQueue(RemoteQueueOpening):
    """RemoteQMCloseQueue throws an exception for a queue that was deleted."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if _is_deleted(self.qm, call):
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE))
        else:
            super().remote_qm_close_queue(call, now)


add(
    "acceptor-remoteqmclosequeue-refusal-of-null-handle-beside-open-queue-thrown",
    "MQQP-3.1.4.4-D01",
    "RemoteQMCloseQueue throws an exception for the context handle NULL if the client has open context handles.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_close_queue,
        lambda qm, call, status: (
            call.handle is None and call.association.group is not None and bool(call.association.group.handles)
        ),
    ),
    blind=True,
)


add(
    "initiator-remoteqmclosequeue-context-rejected",
    "MQQP-3.1.4.4-02",
    "A client calls RemoteQMCloseQueue on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMCloseQueue"),
    blind=True,
)
add(
    "initiator-remoteqmclosequeue-context-of-third-call-rejected",
    "MQQP-3.1.4.4-02",
    "From the third call of RemoteQMCloseQueue on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMCloseQueue", first_call=3),
    blind=True,
)
