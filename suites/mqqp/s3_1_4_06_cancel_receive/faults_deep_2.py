"""Faults of MS-MQQP 3.1.4.6 RemoteQMCancelReceive in the second use of a handle, with other values and roles."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import CANCELED_STATUS, RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-cancel-pqueue-checked-in-first-cancel-of-handle-only", breaks="MQQP-3.1.4.6-07")
class ServerCancelPqueueCheckedInFirstCancelOfHandleOnly(RemoteEnding):
    """The server compares pQueue and hQueue of RemoteQMCancelReceive only until a read of the handle was cancelled."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cancelled: set[int] = set()

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return Status.MQ_OK if h_queue in self.cancelled else super().check_cancel_queue(h_queue, p_queue)

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        self.cancelled.add(entry.OpenQueueDescriptorHandle)
        return super().cancel_remote_read(entry, status)


@fault("server-cancel-with-wrong-pqueue-of-open-queue-cancels-there", breaks="MQQP-3.1.4.6-07")
class ServerCancelWithWrongPqueueOfOpenQueueCancelsThere(RemoteEnding):
    """The server refuses a RemoteQMCancelReceive whose pQueue is the handle of a different open queue, but cancels the
    read that waits there with the given dwRequestID.
    """

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["pQueue"] != given["hQueue"]:
            entry = self.find_read_to_cancel(given["pQueue"], given["dwRequestID"])[1]
            if entry is not None:
                self.cancel_remote_read(entry, CANCELED_STATUS)
        super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-wrong-pqueue-refused-but-read-cancelled", breaks="MQQP-3.1.4.6-07")
class ServerCancelWrongPqueueRefusedButReadCancelled(RemoteEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a RemoteQMCancelReceive with a wrong pQueue that is not 0,
    but cancels the read of hQueue.
    """

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["pQueue"] not in (0, given["hQueue"]):
            entry = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[1]
            if entry is not None:
                self.cancel_remote_read(entry, CANCELED_STATUS)
        super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-wrong-pqueue-without-reads-invalid-handle", breaks="MQQP-3.1.4.6-07")
class ServerCancelWrongPqueueWithoutReadsInvalidHandle(RemoteEnding):
    """The server returns MQ_ERROR_INVALID_HANDLE for a RemoteQMCancelReceive with a wrong pQueue that is not 0, if no
    read waits on hQueue.
    """

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        status = super().check_cancel_queue(h_queue, p_queue)
        waits = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        return Status.MQ_ERROR_INVALID_HANDLE if status and p_queue and not waits else status


@fault("server-cancel-finds-read-of-other-handle-of-same-queue", breaks="MQQP-3.1.4.6-08")
class ServerCancelFindsReadOfOtherHandleOfSameQueue(RemoteEnding):
    """The server cancels a read that waits on a different handle of the same queue, if no read of hQueue has the given
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        descriptor = self.qm.remote_starting.find_remote_descriptor(h_queue)
        queue = None if descriptor is None else descriptor.QueueReference
        if entry is None and queue is not None:
            for one in self.qm.remote.RemoteReadEntryCollection:
                if one.OpenQueueDescriptorHandle in queue.OpenQueueDescriptorCollection and one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, entry


@fault("server-cancel-finds-read-of-other-queue-if-handle-has-reads", breaks="MQQP-3.1.4.6-08")
class ServerCancelFindsReadOfOtherQueueIfHandleHasReads(RemoteEnding):
    """The server searches the reads of all queues, if reads wait on hQueue but none has the given dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR:
            for one in self.qm.remote.RemoteReadEntryCollection:
                if one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, entry


@fault("server-cancel-hqueue-low-16-bits", breaks="MQQP-3.1.4.6-08")
class ServerCancelHqueueLow16Bits(RemoteEnding):
    """The server compares only the low 16 bits of hQueue with the handles of waiting reads."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection:
            if not (one.OpenQueueDescriptorHandle ^ h_queue) & 0xFFFF:
                h_queue = one.OpenQueueDescriptorHandle
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-after-last-read-ended-mq-error", breaks="MQQP-3.1.4.6-09")
class ServerCancelAfterLastReadEndedMqError(RemoteEnding):
    """The server returns MQ_ERROR for a RemoteQMCancelReceive on a handle whose reads were all cancelled."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cancelled: set[int] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        self.cancelled.add(entry.OpenQueueDescriptorHandle)
        return super().cancel_remote_read(entry, status)

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if not entry and h_queue in self.cancelled else (status, entry)


@fault("server-cancel-on-open-handle-without-reads-mq-error", breaks="MQQP-3.1.4.6-09")
class ServerCancelOnOpenHandleWithoutReadsMqError(RemoteEnding):
    """The server returns MQ_ERROR for a RemoteQMCancelReceive on an open handle without waiting reads, while reads wait
    on a different handle.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR_INVALID_HANDLE and len(self.qm.remote.RemoteReadEntryCollection):
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancel-on-closed-handle-invalid-parameter", breaks="MQQP-3.1.4.6-09")
class ServerCancelOnClosedHandleInvalidParameter(RemoteEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a RemoteQMCancelReceive on a handle that is not open."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        if self.qm.remote_starting.find_remote_descriptor(h_queue) is None:
            return Status.MQ_ERROR_INVALID_PARAMETER, None
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-finds-by-low-24-bits-of-request-id", breaks="MQQP-3.1.4.6-10")
class ServerCancelFindsByLow24BitsOfRequestId(RemoteEnding):
    """The server finds the first waiting read whose dwRequestID is equal to the given one in the low 24 bits."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection.of(h_queue):
            if not (one.RequestId ^ request_id) & 0xFFFFFF:
                return Status.MQ_OK, one
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-request-id-all-ones-cancels-first", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-11"))
class ServerCancelRequestIdAllOnesCancelsFirst(RemoteEnding):
    """The server cancels the first waiting read for a RemoteQMCancelReceive with the dwRequestID 0xFFFFFFFF."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        if entries and request_id == 0xFFFFFFFF:
            return Status.MQ_OK, entries[0]
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-third-read-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelThirdReadNotFound(RemoteEnding):
    """The server searches only the first two waiting reads of a handle."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        first = self.qm.remote.RemoteReadEntryCollection.of(h_queue)[:2]
        return (Status.MQ_ERROR, None) if entry is not None and entry not in first else (status, entry)


@fault("server-cancel-unknown-request-id-mq-error-and-only-read-cancelled", breaks="MQQP-3.1.4.6-11")
class ServerCancelUnknownRequestIdMqErrorAndOnlyReadCancelled(RemoteEnding):
    """The server returns MQ_ERROR for an unknown dwRequestID, but cancels the waiting read, if the handle has one."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        if status is Status.MQ_ERROR and len(entries) == 1:
            self.cancel_remote_read(entries[0], CANCELED_STATUS)
        return status, entry


@fault("server-cancel-request-id-of-earlier-cancelled-read-mq-ok", breaks=("MQQP-3.1.4.6-11", "MQQP-3.1.4.6-19"))
class ServerCancelRequestIdOfEarlierCancelledReadMqOk(RemoteEnding):
    """The server returns MQ_OK for a RemoteQMCancelReceive with the dwRequestID of a read that was cancelled before,
    while other reads wait on the handle.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cancelled: set[tuple[int, int]] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        self.cancelled.add(entry.tag)
        return super().cancel_remote_read(entry, status)

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        known = status is Status.MQ_ERROR and (h_queue, request_id) in self.cancelled
        return (Status.MQ_OK, None) if known else (status, entry)


@fault("server-cancel-request-id-of-timed-out-read-found", breaks="MQQP-3.1.4.6-11")
class ServerCancelRequestIdOfTimedOutReadFound(RemoteReads):
    """The server keeps the entry of a read whose time-out expired, if other reads wait on the handle."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: object) -> None:
        super().complete_remote_read(entry, status, position)  # type: ignore[arg-type]
        collection = self.qm.remote.RemoteReadEntryCollection
        if status is Status.MQ_ERROR_IO_TIMEOUT and entry.Timeout and collection.of(entry.OpenQueueDescriptorHandle):
            collection.add(entry)


@fault("server-cancel-of-second-read-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelOfSecondReadClosesQueue(RemoteEnding):
    """The server closes the OpenQueueDescriptor when the second read of its handle is cancelled."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[int, int] = {}

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        handle = entry.OpenQueueDescriptorHandle
        self.counts[handle] = self.counts.get(handle, 0) + 1
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(handle)
        if descriptor is not None and self.counts[handle] == 2:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault("server-cancel-of-peek-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelOfPeekClosesQueue(RemoteEnding):
    """The server closes the OpenQueueDescriptor when a peek is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and entry.Action not in RECEIVE_ACTIONS:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault("server-cancel-closes-cursors-of-handle", breaks="MQQP-3.1.4.6-14")
class ServerCancelClosesCursorsOfHandle(RemoteEnding):
    """The server closes the cursors of the handle when a read without a cursor is cancelled."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            for cursor in list(descriptor.CursorCollection.values()):
                self.qm.queue_opening.close_cursor(cursor)
        return cancelled


@fault("server-cancelled-infinite-read-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledInfiniteReadMqOk(RemoteEnding):
    """The server ends a cancelled read with MQ_OK, if its ulTimeout is 0xFFFFFFFF."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        other = entry.Timeout == INFINITE_MS
        return super().cancel_remote_read(entry, Status.MQ_OK if other else status)


@fault("server-cancelled-peek-with-cursor-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledPeekWithCursorMqOk(Waiting):
    """The server ends a cancelled peek with a cursor with MQ_OK."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        other = reader.CursorReference is not None and not reader.DestructiveRead and status is CANCELED_STATUS
        super().stop_reader(reader, Status.MQ_OK if other else status)


@fault("server-cancelled-receive2-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerCancelledReceive2MqOk(RemoteReads):
    """The server ends a cancelled receive by RemoteQMStartReceive2 with MQ_OK."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        other = status is CANCELED_STATUS and call.method.name == "RemoteQMStartReceive2"
        super().answer_read(call, Status.MQ_OK if other else status, entry)


@fault("server-second-cancelled-read-mq-ok", breaks="MQQP-3.1.4.6-15")
class ServerSecondCancelledReadMqOk(RemoteEnding):
    """The server ends the second cancelled read of a handle with MQ_OK."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        other = entry.OpenQueueDescriptorHandle in self.seen
        self.seen.add(entry.OpenQueueDescriptorHandle)
        return super().cancel_remote_read(entry, Status.MQ_OK if other else status)


@fault("server-cancelled-cursor-read-request-id-stays-used", breaks="MQQP-3.1.4.6-19")
class ServerCancelledCursorReadRequestIdStaysUsed(RemoteStarting):
    """The server refuses the dwRequestID of a cancelled read with a cursor for the next read of the handle."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.with_cursor: set[tuple[int, int]] = set()

    def check_request_id(self, desc: Desc) -> Status:
        known = (desc["hRemoteQueue"], desc["dwRequestID"]) in self.with_cursor
        return Status.MQ_ERROR_INVALID_PARAMETER if known else super().check_request_id(desc)

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        if desc["hCursor"] and desc["ulTimeout"]:
            self.with_cursor.add((desc["hRemoteQueue"], desc["dwRequestID"]))
        return super().create_remote_read_entry(call, desc)


@fault("server-cancel-removes-entries-of-all-reads-of-handle", breaks="MQQP-3.1.4.6-19")
class ServerCancelRemovesEntriesOfAllReadsOfHandle(RemoteEnding):
    """The server removes the entries of all reads of the handle when it cancels one of them."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        for one in self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle):
            self.qm.remote.RemoteReadEntryCollection.remove(one)
        return cancelled


@fault("server-cancel-removes-entry-with-same-id-of-other-handle", breaks="MQQP-3.1.4.6-19")
class ServerCancelRemovesEntryWithSameIdOfOtherHandle(RemoteEnding):
    """The server also removes the entry with the same dwRequestID of a different handle when it cancels a read."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        for one in list(self.qm.remote.RemoteReadEntryCollection):
            if one.RequestId == entry.RequestId:
                self.qm.remote.RemoteReadEntryCollection.remove(one)
        return cancelled


@fault("server-cancel-of-peek-returns-mq-error", breaks=("MQQP-3.1.4.6-20", "MQQP-3.1.4.6-05"))
class ServerCancelOfPeekReturnsMqError(RemoteEnding):
    """The server returns MQ_ERROR from the RemoteQMCancelReceive that cancels a peek."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        return cancelled if entry.Action in RECEIVE_ACTIONS else Status.MQ_ERROR


@fault("server-cancel-of-second-read-returns-information", breaks=("MQQP-3.1.4.6-20", "MQQP-3.1.4.6-05"))
class ServerCancelOfSecondReadReturnsInformation(RemoteEnding):
    """The server returns MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT from the second RemoteQMCancelReceive of a handle."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        again = entry.OpenQueueDescriptorHandle in self.seen
        self.seen.add(entry.OpenQueueDescriptorHandle)
        return CANCELED_STATUS if again else cancelled


@fault("server-cancel-unknown-request-id-thrown-while-reads-wait", breaks="MQQP-3.1.4.6-D02")
class ServerCancelUnknownRequestIdThrownWhileReadsWait(RemoteEnding):
    """The server raises an RPC exception for a RemoteQMCancelReceive with a dwRequestID that no waiting read has."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        if self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[0] is Status.MQ_ERROR:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_cancel_receive(call, now)


@fault("server-cancel-closed-handle-thrown", breaks="MQQP-3.1.4.6-D02")
class ServerCancelClosedHandleThrown(RemoteEnding):
    """The server raises an RPC exception for a RemoteQMCancelReceive whose hQueue is not an open handle."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        unknown = self.qm.remote_starting.find_remote_descriptor(given["hQueue"]) is None
        if given["hQueue"] == given["pQueue"] and unknown:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_cancel_receive(call, now)


@fault("server-cancelled-read-still-takes-next-message", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledReadStillTakesNextMessage(Waiting):
    """The server answers a cancelled receive, but the receive still takes the next message of its queue."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().stop_reader(reader, status)
        if status is CANCELED_STATUS and reader.DestructiveRead:
            reader.answered = lambda *_: None
            self.qm.readers[reader.number] = reader
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("server-cancelled-peek-answered-with-next-message", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledPeekAnsweredWithNextMessage(Waiting):
    """The server does not end the wait of a cancelled peek: the response follows with the next message."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if status is not CANCELED_STATUS or reader.DestructiveRead:
            super().stop_reader(reader, status)


@fault("server-cancel-ends-wait-of-first-read-of-queue", breaks="MQQP-3.1.4.6-D01")
class ServerCancelEndsWaitOfFirstReadOfQueue(Waiting):
    """The server ends the wait of the first read of the handle when any read of the handle is cancelled."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        first = next(iter(reader.descriptor.WaitingMessageReadOperationCollection))
        super().stop_reader(first if status is CANCELED_STATUS else reader, status)
