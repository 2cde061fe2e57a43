"""Faults that break the rules MQQP-3.1.4.6-09 to MQQP-3.1.4.6-11."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault(
    "server-cancel-receive-returns-mq-ok-for-queue-without-reads",
    breaks="MQQP-3.1.4.6-09",
)
class ServerCancelReceiveReturnsMqOkForQueueWithoutReads(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_OK for a queue on which no read waits."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_OK if status is Status.MQ_ERROR_INVALID_HANDLE else status), entry


@fault("server-cancel-receive-returns-mq-error-while-other-queue-has-reads", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveReturnsMqErrorWhileOtherQueueHasReads(RemoteReadEnding):
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


@fault("server-cancel-receive-returns-mq-error-after-last-cancelled-read", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveReturnsMqErrorAfterLastCancelledRead(RemoteReadEnding):
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


@fault("server-cancel-receive-on-idle-handle-returns-mq-error", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveOnIdleHandleReturnsMqError(RemoteReadEnding):
    """The server returns MQ_ERROR for a RemoteQMCancelReceive on an open handle without waiting reads, while reads wait
    on a different handle.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR_INVALID_HANDLE and len(self.qm.remote.RemoteReadEntryCollection):
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancel-receive-on-closed-handle-returns-invalid-parameter", breaks="MQQP-3.1.4.6-09")
class ServerCancelReceiveOnClosedHandleReturnsInvalidParameter(RemoteReadEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a RemoteQMCancelReceive on a handle that is not open."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        if self.qm.remote_read_starting.find_remote_descriptor(h_queue) is None:
            return Status.MQ_ERROR_INVALID_PARAMETER, None
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-returns-mq-error-after-last-read-ended", breaks="MQQP-3.1.4.6-09", blind=True)
class ServerCancelReceiveReturnsMqErrorAfterLastReadEnded(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_ERROR for a queue that has no waiting read because its last waiting read was
    cancelled.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        seen = self.__dict__.setdefault("seen", set())
        if entry is not None:
            seen.add(h_queue)
        if status is Status.MQ_ERROR_INVALID_HANDLE and h_queue in seen:
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancel-receive-ends-first-read", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02"))
class ServerCancelReceiveEndsFirstRead(RemoteReadEnding):
    """RemoteQMCancelReceive ignores its dwRequestID and cancels the first waiting read of the queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        return super().find_read_to_cancel(h_queue, entries[0].RequestId if entries else request_id)


@fault("server-cancel-receive-ends-oldest-read", breaks="MQQP-3.1.4.6-10", blind=True)
class ServerCancelReceiveEndsOldestRead(RemoteReadEnding):
    """RemoteQMCancelReceive ignores its dwRequestID and cancels the oldest waiting read of the queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if found is None:
            return status, found
        return status, self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)[0]


@fault("server-cancel-receive-dwrequestid-compared-in-low-16-bits", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-11"))
class ServerCancelReceiveDwrequestidComparedInLow16Bits(RemoteReadEnding):
    """RemoteQMCancelReceive compares only the low 16 bits of dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue):
            if not (one.RequestId ^ request_id) & 0xFFFF:
                return Status.MQ_OK, one
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-of-read-by-cursor-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveOfReadByCursorNotFound(RemoteReadEnding):
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
class ServerCancelReceiveOfReadWithoutTimeoutNotFound(RemoteReadEnding):
    """RemoteQMCancelReceive does not find a waiting receive without a timeout."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if found is not None and found.Timeout == INFINITE_MS else (status, found)


@fault("server-cancel-receive-of-read-with-timeout-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveOfReadWithTimeoutNotFound(RemoteReadEnding):
    """RemoteQMCancelReceive does not find a waiting receive that has a timeout."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if found is not None and found.Timeout != INFINITE_MS else (status, found)


@fault("server-cancel-receive-ends-other-reads-of-handle", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02"))
class ServerCancelReceiveEndsOtherReadsOfHandle(RemoteReadEnding):
    """When a read is cancelled, the server also ends every read of the same handle that was started later."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)
        later = entries[entries.index(entry) + 1 :]
        done = super().cancel_remote_read(entry, status)
        for one in later:
            super().cancel_remote_read(one, status)
        return done


@fault("server-cancel-receive-compares-low-24-bits-of-dw-request-id", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveComparesLow24BitsOfDwRequestId(RemoteReadEnding):
    """The server finds the first waiting read whose dwRequestID has the same low 24 bits as the given dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue):
            if not (one.RequestId ^ request_id) & 0xFFFFFF:
                return Status.MQ_OK, one
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-of-dw-request-id-0xffffffff-cancels-first-read", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-11"))
class ServerCancelOfDwRequestId0xffffffffCancelsFirstRead(RemoteReadEnding):
    """The server cancels the first waiting read for a RemoteQMCancelReceive with the dwRequestID 0xFFFFFFFF."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        if entries and request_id == 0xFFFFFFFF:
            return Status.MQ_OK, entries[0]
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-searches-only-first-two-waiting-reads", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveSearchesOnlyFirstTwoWaitingReads(RemoteReadEnding):
    """The server searches only the first two waiting reads of a handle."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        first = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)[:2]
        return (Status.MQ_ERROR, None) if entry is not None and entry not in first else (status, entry)


@fault("server-cancel-receive-dwrequestid-0-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveDwrequestid0NotFound(RemoteReadEnding):
    """The server does not find a waiting read whose dwRequestID is 0."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        return super().find_read_to_cancel(h_queue, request_id) if request_id else (Status.MQ_ERROR, None)


LARGEST_REQUEST_ID = 0xFFFFFFFF


@fault("server-cancel-receive-largest-dwrequestid-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveLargestDwrequestidNotFound(RemoteReadEnding):
    """The server does not find a waiting read whose dwRequestID is 0xFFFFFFFF."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if request_id == LARGEST_REQUEST_ID and found[1] is not None else found


@fault(
    "server-cancel-receive-finds-only-reads-of-own-connection",
    breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.1.3-01"),
    blind=True,
)
class ServerCancelReceiveFindsOnlyReadsOfOwnConnection(RemoteReadEnding):
    """RemoteQMCancelReceive finds only reads that were called on the same connection."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        self.__dict__["by"] = call.association
        super().remote_qm_cancel_receive(call, now)

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if entry is not None and entry.call.association is not self.__dict__["by"]:
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancel-receive-unknown-request-id-returns-invalid-handle", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveUnknownRequestIdReturnsInvalidHandle(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_ERROR_INVALID_HANDLE for an unknown dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR_INVALID_HANDLE if status is Status.MQ_ERROR else status), entry


@fault("server-cancel-receive-unknown-request-returns-status-not-found", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveUnknownRequestReturnsStatusNotFound(RemoteReadEnding):
    """The server returns STATUS_NOT_FOUND when RemoteQMCancelReceive names an unknown dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return Status.STATUS_NOT_FOUND if status is Status.MQ_ERROR else status, found


@fault("server-cancel-of-unknown-request-id-cancels-waiting-read", breaks="MQQP-3.1.4.6-11")
class ServerCancelOfUnknownRequestIdCancelsWaitingRead(RemoteReadEnding):
    """The server returns MQ_ERROR for an unknown dwRequestID, but cancels the waiting read, if the handle has one."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        if status is Status.MQ_ERROR and len(entries) == 1:
            self.cancel_remote_read(entries[0], CANCELED_STATUS)
        return status, entry


@fault("server-repeated-cancel-of-dw-request-id-returns-mq-ok", breaks=("MQQP-3.1.4.6-11", "MQQP-3.1.4.6-19"))
class ServerRepeatedCancelOfDwRequestIdReturnsMqOk(RemoteReadEnding):
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


@fault("server-cancel-finds-dw-request-id-of-timed-out-read", breaks="MQQP-3.1.4.6-11")
class ServerCancelFindsDwRequestIdOfTimedOutRead(RemoteReads):
    """The server keeps the entry of a read whose timeout expired, if other reads wait on the handle."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: object) -> None:
        super().complete_remote_read(entry, status, position)  # type: ignore[arg-type]
        collection = self.qm.remote.RemoteReadEntryCollection
        if (
            status is Status.MQ_ERROR_IO_TIMEOUT
            and entry.Timeout
            and collection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)
        ):
            collection.add(entry)


@fault("server-cancel-receive-dwrequestid-0-cancels-first-read", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveDwrequestid0CancelsFirstRead(RemoteReadEnding):
    """The server cancels the first waiting read if RemoteQMCancelReceive names dwRequestID 0 and no read has this
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        return (
            (Status.MQ_OK, entries[0])
            if entries and not request_id
            else super().find_read_to_cancel(h_queue, request_id)
        )
