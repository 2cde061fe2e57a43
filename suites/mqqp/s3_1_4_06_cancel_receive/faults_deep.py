"""Faults of MS-MQQP 3.1.4.6 RemoteQMCancelReceive that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-cancel-receive-pqueue-compared-in-low-16-bits", breaks="MQQP-3.1.4.6-07")
class ServerCancelReceivePqueueComparedInLow16Bits(RemoteEnding):
    """RemoteQMCancelReceive accepts a pQueue that differs from hQueue only in the upper 16 bits."""

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        same = p_queue != 0 and not (h_queue ^ p_queue) & 0xFFFF
        return Status.MQ_OK if same else super().check_cancel_queue(h_queue, p_queue)


@fault("server-cancel-receive-refused-for-pqueue-still-cancels", breaks="MQQP-3.1.4.6-07")
class ServerCancelReceiveRefusedForPqueueStillCancels(RemoteEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a wrong pQueue, but cancels the read."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(call, now)
        given = call.arguments
        if given["pQueue"] and given["pQueue"] != given["hQueue"]:
            found = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[1]
            if found is not None:
                self.cancel_remote_read(found, Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT)


@fault("server-cancel-receive-dwrequestid-compared-in-low-16-bits", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-11"))
class ServerCancelReceiveDwrequestidComparedInLow16Bits(RemoteEnding):
    """RemoteQMCancelReceive compares only the low 16 bits of dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection.of(h_queue):
            if not (one.RequestId ^ request_id) & 0xFFFF:
                return Status.MQ_OK, one
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-of-other-handle-of-same-queue", breaks="MQQP-3.1.4.6-08")
class ServerCancelReceiveOfOtherHandleOfSameQueue(RemoteEnding):
    """RemoteQMCancelReceive also cancels a read that waits on another handle of the same queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        mine = self.qm.remote_starting.find_remote_descriptor(h_queue)
        if found is None and mine is not None:
            for one in self.qm.remote.RemoteReadEntryCollection:
                other = self.qm.remote_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle)
                if other and other.QueueReference is mine.QueueReference and one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, found


@fault("server-cancel-receive-mq-error-while-other-queue-has-reads", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveMqErrorWhileOtherQueueHasReads(RemoteEnding):
    """While a read waits on another queue, RemoteQMCancelReceive returns MQ_ERROR for a queue without waiting reads."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR_INVALID_HANDLE and len(self.qm.remote.RemoteReadEntryCollection):
            status = Status.MQ_ERROR
        return status, found


@fault("server-cancel-receive-of-finished-receive-returns-mq-ok", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveOfFinishedReceiveReturnsMqOk(RemoteReads):
    """The server keeps a finished receive in RemoteReadEntryCollection, so the receive can still be cancelled."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry.UserMessagePacket is None:
            super().remove_remote_read_entry(entry)


@fault("server-cancel-receive-of-read-by-cursor-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveOfReadByCursorNotFound(RemoteEnding):
    """RemoteQMCancelReceive does not find a waiting receive that uses a cursor."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if found is not None:
            desc = found.call.arguments.get("lpRemoteReadDesc")
            desc = desc or found.call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
            if desc["hCursor"]:
                return Status.MQ_ERROR, None
        return status, found


@fault("server-cancel-receive-of-read-without-timeout-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveOfReadWithoutTimeoutNotFound(RemoteEnding):
    """RemoteQMCancelReceive does not find a waiting receive without a timeout."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if found is not None and found.Timeout == INFINITE_MS else (status, found)


@fault("server-cancel-receive-of-read-with-timeout-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveOfReadWithTimeoutNotFound(RemoteEnding):
    """RemoteQMCancelReceive does not find a waiting receive that has a timeout."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if found is not None and found.Timeout != INFINITE_MS else (status, found)


@fault("server-cancel-receive-closes-cursors-of-handle", breaks="MQQP-3.1.4.6-14")
class ServerCancelReceiveClosesCursorsOfHandle(RemoteEnding):
    """The server closes the cursors of a queue handle when a read of the handle is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        done = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            descriptor.CursorCollection.clear()
        return done


@fault("server-cancel-receive-ends-other-reads-of-handle", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02"))
class ServerCancelReceiveEndsOtherReadsOfHandle(RemoteEnding):
    """When a read is cancelled, the server also ends every read of the same handle that was started later."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        entries = self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle)
        later = entries[entries.index(entry) + 1 :]
        done = super().cancel_remote_read(entry, status)
        for one in later:
            super().cancel_remote_read(one, status)
        return done


@fault("server-cancelled-read-by-cursor-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledReadByCursorEndsWithMqOk(Waiting):
    """The server returns MQ_OK for a cancelled receive by a cursor."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cancelled = status is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT and reader.CursorReference is not None
        super().stop_reader(reader, Status.MQ_OK if cancelled else status)


@fault("server-cancelled-start-receive2-ends-with-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledStartReceive2EndsWithMqOk(RemoteReads):
    """The server returns MQ_OK for a cancelled RemoteQMStartReceive2."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        cancelled = status is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
        if cancelled and call.method.name == "RemoteQMStartReceive2":
            call = change_answer_values(call, Return=Status.MQ_OK)
        super().answer_read(call, status, entry)


@fault("server-cancelled-endless-read-not-answered", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledEndlessReadNotAnswered(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_OK for a read without a timeout, but the read ends only when a
    message arrives.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        if entry.Timeout == INFINITE_MS:
            self.qm.remote_reads.remove_remote_read_entry(entry)
            return Status.MQ_OK
        return super().cancel_remote_read(entry, status)


def _lock_message(status: Status, position: MessagePosition | None) -> None:
    if position is not None:
        position.State = MessagePositionState.LOCKED


@fault("server-cancelled-read-still-takes-message", breaks="MQQP-3.1.4.6-19")
class ServerCancelledReadStillTakesMessage(RemoteEnding):
    """When a message arrives after a read was cancelled, the server locks the message as if the read were still
    waiting.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        readers: list[WaitingMessageReadOperation] = (
            []
            if descriptor is None
            else [one for one in descriptor.WaitingMessageReadOperationCollection if one.Tag == entry.tag]
        )
        done = super().cancel_remote_read(entry, status)
        for one in readers:
            one.answered = _lock_message
            assert isinstance(descriptor, OpenQueueDescriptor)
            descriptor.WaitingMessageReadOperationCollection[one] = None
            self.qm.readers[one.number] = one
        return done


@fault("server-cancelled-read-request-id-stays-in-use", breaks="MQQP-3.1.4.6-19")
class ServerCancelledReadRequestIdStaysInUse(RemoteEnding):
    """The server keeps the entry of a cancelled read without a timeout, so the dwRequestID stays in use."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        done = super().cancel_remote_read(entry, status)
        if entry.Timeout == INFINITE_MS:
            self.qm.remote.RemoteReadEntryCollection.add(entry)
        return done


@fault("server-cancel-receive-status-of-cancelled-read-returned", breaks="MQQP-3.1.4.6-20")
class ServerCancelReceiveStatusOfCancelledReadReturned(RemoteEnding):
    """The server returns MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT from RemoteQMCancelReceive."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return super().cancel_remote_read(entry, status) or status


@fault("server-cancel-receive-unknown-request-thrown", breaks="MQQP-3.1.4.6-D02")
class ServerCancelReceiveUnknownRequestThrown(RemoteEnding):
    """The server raises an RPC exception when RemoteQMCancelReceive names an unknown dwRequestID."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[0] is Status.MQ_ERROR:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-receive-unknown-request-returns-status-not-found", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveUnknownRequestReturnsStatusNotFound(RemoteEnding):
    """The server returns STATUS_NOT_FOUND when RemoteQMCancelReceive names an unknown dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return Status.STATUS_NOT_FOUND if status is Status.MQ_ERROR else status, found
