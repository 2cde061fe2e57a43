"""Faults that break the rules MQQP-3.1.4.6-14 to MQQP-3.1.4.6-D02."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from harness.faults.rpc_calls import change_answer_values, throw_refusals_as_rpc_faults
from reference_qm.core.part import QM
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-cancel-receive-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelReceiveClosesQueue(RemoteReadEnding):
    """RemoteQMCancelReceive closes the queue of the cancelled read."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault("server-cancel-receive-closes-cursors-of-handle", breaks="MQQP-3.1.4.6-14")
class ServerCancelReceiveClosesCursorsOfHandle(RemoteReadEnding):
    """The server closes the cursors of a queue handle when a read of the handle is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        done = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            descriptor.CursorCollection.clear()
        return done


@fault("server-cancel-of-second-read-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelOfSecondReadClosesQueue(RemoteReadEnding):
    """The server closes the OpenQueueDescriptor when the second read of its handle is cancelled."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[int, int] = {}

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        handle = entry.OpenQueueDescriptorHandle
        self.counts[handle] = self.counts.get(handle, 0) + 1
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(handle)
        if descriptor is not None and self.counts[handle] == 2:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault("server-cancel-of-peek-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelOfPeekClosesQueue(RemoteReadEnding):
    """The server closes the OpenQueueDescriptor when a peek is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and entry.Action not in RECEIVE_ACTIONS:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault("server-cancel-closes-cursors-of-handle", breaks="MQQP-3.1.4.6-14")
class ServerCancelClosesCursorsOfHandle(RemoteReadEnding):
    """The server closes the cursors of the handle when a read without a cursor is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for cursor in list(descriptor.CursorCollection.values()):
                self.qm.queue_opening.close_cursor(cursor)
        return cancelled


@fault(
    "server-cancel-receive-leaves-read-waiting",
    breaks=(
        "MQQP-3.1.4.6-15",
        "MQQP-3.1.4.6-D01",
    ),
)
class ServerCancelReceiveLeavesReadWaiting(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_OK and lets the read wait."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return Status.MQ_OK


@fault("server-cancelled-read-by-cursor-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledReadByCursorEndsWithMqOk(WaitingReads):
    """The server returns MQ_OK for a cancelled receive by a cursor."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cancelled = status is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT and reader.CursorReference is not None
        super().end_wait_without_message(reader, Status.MQ_OK if cancelled else status)


@fault("server-cancelled-start-receive2-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledStartReceive2EndsWithMqOk(RemoteReads):
    """The server returns MQ_OK for a cancelled RemoteQMStartReceive2."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        cancelled = status is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
        if cancelled and call.method.name == "RemoteQMStartReceive2":
            call = change_answer_values(call, Return=Status.MQ_OK)
        super().answer_read(call, status, entry)


@fault("server-cancelled-infinite-read-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledInfiniteReadEndsWithMqOk(RemoteReadEnding):
    """The server ends a cancelled read with MQ_OK, if its ulTimeout is 0xFFFFFFFF."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        other = entry.Timeout == INFINITE_MS
        return super().cancel_remote_read(entry, Status.MQ_OK if other else status)


@fault("server-cancelled-peek-with-cursor-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledPeekWithCursorEndsWithMqOk(WaitingReads):
    """The server ends a cancelled peek by a cursor with MQ_OK."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        other = reader.CursorReference is not None and not reader.DestructiveRead and status is CANCELED_STATUS
        super().end_wait_without_message(reader, Status.MQ_OK if other else status)


@fault("server-cancelled-receive-of-start-receive2-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledReceiveOfStartReceive2EndsWithMqOk(RemoteReads):
    """The server ends a cancelled receive by RemoteQMStartReceive2 with MQ_OK."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        other = status is CANCELED_STATUS and call.method.name == "RemoteQMStartReceive2"
        super().answer_read(call, Status.MQ_OK if other else status, entry)


@fault("server-second-cancelled-read-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerSecondCancelledReadEndsWithMqOk(RemoteReadEnding):
    """The server ends the second cancelled read of a handle with MQ_OK."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        other = entry.OpenQueueDescriptorHandle in self.seen
        self.seen.add(entry.OpenQueueDescriptorHandle)
        return super().cancel_remote_read(entry, Status.MQ_OK if other else status)


add(
    "server-cancel-receive-keeps-entry",
    "MQQP-3.1.4.6-19",
    "RemoteQMCancelReceive keeps the entry of the cancelled read.",
    omit_step_during(RemoteReadEnding.cancel_remote_read, RemoteReads.remove_remote_read_entry),
)


def _lock_message_found_by_cancelled_read(status: Status, position: MessagePosition | None) -> None:
    if position is not None:
        position.State = MessagePositionState.LOCKED


@fault("server-cancelled-read-still-takes-message", breaks="MQQP-3.1.4.6-19")
class ServerCancelledReadStillTakesMessage(RemoteReadEnding):
    """When a message arrives after a read was cancelled, the server locks the message as if the read were still
    waiting.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        readers: list[WaitingMessageReadOperation] = (
            []
            if descriptor is None
            else [one for one in descriptor.WaitingMessageReadOperationCollection if one.Tag == entry.tag]
        )
        done = super().cancel_remote_read(entry, status)
        for one in readers:
            one.answered = _lock_message_found_by_cancelled_read
            assert isinstance(descriptor, OpenQueueDescriptor)
            descriptor.WaitingMessageReadOperationCollection[one] = None
            self.qm.readers[one.number] = one
        return done


@fault("server-cancelled-read-request-id-stays-in-use", breaks="MQQP-3.1.4.6-19")
class ServerCancelledReadRequestIdStaysInUse(RemoteReadEnding):
    """The server keeps the entry of a cancelled read without a timeout, so the dwRequestID stays in use."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        done = super().cancel_remote_read(entry, status)
        if entry.Timeout == INFINITE_MS:
            self.qm.remote.RemoteReadEntryCollection.add(entry)
        return done


@fault("server-dw-request-id-of-cancelled-cursor-read-stays-in-use", breaks="MQQP-3.1.4.6-19")
class ServerDwRequestIdOfCancelledCursorReadStaysInUse(RemoteReadStarting):
    """After a cancelled read by a cursor, the server refuses its dwRequestID in the next read by the same handle."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.with_cursor: set[tuple[int, int]] = set()

    def check_request_id(self, desc: ReadDescription) -> Status:
        known = (desc["hRemoteQueue"], desc["dwRequestID"]) in self.with_cursor
        return Status.MQ_ERROR_INVALID_PARAMETER if known else super().check_request_id(desc)

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        if desc["hCursor"] and desc["ulTimeout"]:
            self.with_cursor.add((desc["hRemoteQueue"], desc["dwRequestID"]))
        return super().create_remote_read_entry(call, desc)


@fault("server-cancel-removes-entries-of-all-reads-of-handle", breaks="MQQP-3.1.4.6-19")
class ServerCancelRemovesEntriesOfAllReadsOfHandle(RemoteReadEnding):
    """The server removes the entries of all reads of the handle when it cancels one of them."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
            self.qm.remote.RemoteReadEntryCollection.remove(one)
        return cancelled


@fault("server-cancel-removes-entry-with-same-id-of-other-handle", breaks="MQQP-3.1.4.6-19")
class ServerCancelRemovesEntryWithSameIdOfOtherHandle(RemoteReadEnding):
    """When the server cancels a read, it also removes the entry of a different handle that has the same dwRequestID."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        for one in list(self.qm.remote.RemoteReadEntryCollection):
            if one.RequestId == entry.RequestId:
                self.qm.remote.RemoteReadEntryCollection.remove(one)
        return cancelled


@fault("server-keeps-request-id-of-cancelled-peek-in-use", breaks="MQQP-3.1.4.6-19", blind=True)
class ServerKeepsRequestIdOfCancelledPeekInUse(RemoteReads):
    """The server keeps the entry of a cancelled peek, so the dwRequestID stays in use."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry not in self.__dict__.get("kept", ()):
            super().remove_remote_read_entry(entry)

    def complete_remote_read(self, entry, status, position):
        if status is CANCELED_STATUS and entry.Action is not ReadAction.MQ_ACTION_RECEIVE:
            self.__dict__.setdefault("kept", []).append(entry)
        super().complete_remote_read(entry, status, position)


@fault("server-cancel-receive-returns-status-of-cancelled-read", breaks="MQQP-3.1.4.6-20")
class ServerCancelReceiveReturnsStatusOfCancelledRead(RemoteReadEnding):
    """The server returns MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT from RemoteQMCancelReceive."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return super().cancel_remote_read(entry, status) or status


add(
    "server-cancel-receive-throws-errors",
    "MQQP-3.1.4.6-D02",
    "RemoteQMCancelReceive throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteReadEnding.remote_qm_cancel_receive),
)


@fault("server-cancel-receive-raises-exception-for-unknown-request", breaks="MQQP-3.1.4.6-D02")
class ServerCancelReceiveRaisesExceptionForUnknownRequest(RemoteReadEnding):
    """The server raises an RPC exception when RemoteQMCancelReceive names an unknown dwRequestID."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[0] is Status.MQ_ERROR:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-of-unknown-request-id-throws-while-reads-wait", breaks="MQQP-3.1.4.6-D02")
class ServerCancelOfUnknownRequestIdThrowsWhileReadsWait(RemoteReadEnding):
    """The server raises an RPC exception for a RemoteQMCancelReceive with a dwRequestID that no waiting read has."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[0] is Status.MQ_ERROR:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-with-closed-handle-throws-status", breaks="MQQP-3.1.4.6-D02")
class ServerCancelWithClosedHandleThrowsStatus(RemoteReadEnding):
    """The server raises an RPC exception for a RemoteQMCancelReceive whose hQueue is not an open handle."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        unknown = self.qm.remote_read_starting.find_remote_descriptor(given["hQueue"]) is None
        if given["hQueue"] == given["pQueue"] and unknown:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_cancel_receive(call, now)
