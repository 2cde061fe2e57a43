"""Faults that break the rules MQQP-3.1.4.6-03 to MQQP-3.1.4.6-08."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context, change_answer_values, replace_success_by_error
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("client-cancel-receive-before-read", breaks="MQQP-3.1.4.6-03")
class ClientCancelReceiveBeforeRead(ClientMessageReading):
    """The client calls RemoteQMCancelReceive before the method that starts the read."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        yield from self._cancel(read)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        yield from self._cancel(read)
        return (yield from super().start_receive2(read))

    def _cancel(self, read: RemoteRead) -> RemoteCallSequence:
        assert read.entry is not None
        yield from self.qm.client_read_cancelling.call_cancel_receive(read.entry)


@fault("client-cancel-receive-before-read-is-sent", breaks="MQQP-3.1.4.6-03")
class ClientCancelReceiveBeforeReadIsSent(ClientReadCancelling):
    """The client calls RemoteQMCancelReceive for a read that it has not sent yet."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> RemoteCallSequence:
        entry = self.find_pending_read(queue, request_id)
        if not entry.is_sent_to_server:
            yield from self.call_cancel_receive(entry)
        yield from super().cancel_pending_read(queue, request_id)


add(
    "client-cancel-receive-on-unknown-context",
    "MQQP-3.1.4.6-04",
    "The client calls RemoteQMCancelReceive on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCancelReceive"),
)


@fault(
    "server-successful-cancel-receive-returns-error",
    breaks=(
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.6-20",
        "MQQP-3.1.4.6-D01",
    ),
)
class ServerSuccessfulCancelReceiveReturnsError(RemoteReadEnding):
    """RemoteQMCancelReceive returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(change_answer_values(call, Return=replace_success_by_error), now)


@fault("server-cancel-receive-does-not-cancel-waiting-peek", breaks="MQQP-3.1.4.6-05")
class ServerCancelReceiveDoesNotCancelWaitingPeek(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_OK for a waiting peek, but does not cancel the peek."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return super().cancel_remote_read(entry, status) if entry.Action in RECEIVE_ACTIONS else Status.MQ_OK


@fault("server-cancel-of-peek-returns-mq-error", breaks=("MQQP-3.1.4.6-20", "MQQP-3.1.4.6-05"))
class ServerCancelOfPeekReturnsMqError(RemoteReadEnding):
    """The server returns MQ_ERROR from the RemoteQMCancelReceive that cancels a peek."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        return cancelled if entry.Action in RECEIVE_ACTIONS else Status.MQ_ERROR


@fault("server-second-cancel-of-handle-returns-information-status", breaks=("MQQP-3.1.4.6-20", "MQQP-3.1.4.6-05"))
class ServerSecondCancelOfHandleReturnsInformationStatus(RemoteReadEnding):
    """The server returns MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT from the second RemoteQMCancelReceive of a handle."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        again = entry.OpenQueueDescriptorHandle in self.seen
        self.seen.add(entry.OpenQueueDescriptorHandle)
        return CANCELED_STATUS if again else cancelled


@fault("client-failed-cancel-taken-as-success", breaks="MQQP-3.1.4.6-05")
class ClientFailedCancelTakenAsSuccess(ClientReadCancelling):
    """The client reports that a read was cancelled although RemoteQMCancelReceive returned MQ_ERROR."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        try:
            yield from super().call_cancel_receive(entry)
        except RemoteError as error:
            if error.status != 0xC00E0001:
                raise


@fault("client-cancel-status-not-found-taken-as-success", breaks="MQQP-3.1.4.6-05")
class ClientCancelStatusNotFoundTakenAsSuccess(ClientReadCancelling):
    """The client reports that a read was cancelled although RemoteQMCancelReceive returned STATUS_NOT_FOUND."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        try:
            yield from super().call_cancel_receive(entry)
        except RemoteError as error:
            if error.status != 0xC0000225:
                raise


add(
    "server-cancel-receive-p-queue-ignored",
    "MQQP-3.1.4.6-07",
    "RemoteQMCancelReceive does not compare pQueue with hQueue.",
    omit_step(RemoteReadEnding.check_cancel_queue),
)


@fault("server-cancel-receive-pqueue-compared-in-low-16-bits", breaks="MQQP-3.1.4.6-07")
class ServerCancelReceivePqueueComparedInLow16Bits(RemoteReadEnding):
    """RemoteQMCancelReceive accepts a pQueue that differs from hQueue only in the upper 16 bits."""

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        same = p_queue != 0 and not (h_queue ^ p_queue) & 0xFFFF
        return Status.MQ_OK if same else super().check_cancel_queue(h_queue, p_queue)


@fault("server-cancel-receive-refused-for-pqueue-still-cancels", breaks="MQQP-3.1.4.6-07")
class ServerCancelReceiveRefusedForPqueueStillCancels(RemoteReadEnding):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a wrong pQueue, but cancels the read."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(call, now)
        given = call.arguments
        if given["pQueue"] and given["pQueue"] != given["hQueue"]:
            found = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])[1]
            if found is not None:
                self.cancel_remote_read(found, Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT)


@fault("server-checks-p-queue-only-in-first-cancel-receive-of-handle", breaks="MQQP-3.1.4.6-07")
class ServerChecksPQueueOnlyInFirstCancelReceiveOfHandle(RemoteReadEnding):
    """The server compares pQueue and hQueue of RemoteQMCancelReceive only until a read of the handle was cancelled."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cancelled: set[int] = set()

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return Status.MQ_OK if h_queue in self.cancelled else super().check_cancel_queue(h_queue, p_queue)

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        self.cancelled.add(entry.OpenQueueDescriptorHandle)
        return super().cancel_remote_read(entry, status)


@fault("server-refused-cancel-ends-read-of-queue-that-pqueue-names", breaks="MQQP-3.1.4.6-07")
class ServerRefusedCancelEndsReadOfQueueThatPqueueNames(RemoteReadEnding):
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


@fault("server-refuses-cancel-with-wrong-p-queue-but-cancels-read", breaks="MQQP-3.1.4.6-07")
class ServerRefusesCancelWithWrongPQueueButCancelsRead(RemoteReadEnding):
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


@fault("server-idle-cancel-with-wrong-pqueue-returns-invalid-handle", breaks="MQQP-3.1.4.6-07")
class ServerIdleCancelWithWrongPqueueReturnsInvalidHandle(RemoteReadEnding):
    """The server returns MQ_ERROR_INVALID_HANDLE for a RemoteQMCancelReceive with a wrong pQueue that is not 0, if no
    read waits on hQueue.
    """

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        status = super().check_cancel_queue(h_queue, p_queue)
        waits = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        return Status.MQ_ERROR_INVALID_HANDLE if status and p_queue and not waits else status


@fault("server-cancel-receive-pqueue-0-accepted", breaks="MQQP-3.1.4.6-07", blind=True)
class ServerCancelReceivePqueue0Accepted(RemoteReadEnding):
    """RemoteQMCancelReceive accepts pQueue 0."""

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return Status.MQ_OK if p_queue == 0 else super().check_cancel_queue(h_queue, p_queue)


@fault("server-cancel-receive-h-queue-ignored", breaks="MQQP-3.1.4.6-08")
class ServerCancelReceiveHQueueIgnored(RemoteReadEnding):
    """RemoteQMCancelReceive cancels the read with the given dwRequestID in any queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for read in self.qm.remote.reads.values():
            if read.RequestId == request_id:
                return Status.MQ_OK, read
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-cancels-read-of-other-handle-of-queue", breaks="MQQP-3.1.4.6-08")
class ServerCancelReceiveCancelsReadOfOtherHandleOfQueue(RemoteReadEnding):
    """RemoteQMCancelReceive also cancels a read that waits on another handle of the same queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        mine = self.qm.remote_read_starting.find_remote_descriptor(h_queue)
        if found is None and mine is not None:
            for one in self.qm.remote.RemoteReadEntryCollection:
                other = self.qm.remote_read_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle)
                if other and other.QueueReference is mine.QueueReference and one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, found


@fault("server-cancel-finds-read-of-other-handle-of-same-queue", breaks="MQQP-3.1.4.6-08")
class ServerCancelFindsReadOfOtherHandleOfSameQueue(RemoteReadEnding):
    """The server cancels a read that waits on a different handle of the same queue, if no read of hQueue has the given
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(h_queue)
        queue = None if descriptor is None else descriptor.QueueReference
        if entry is None and queue is not None:
            for one in self.qm.remote.RemoteReadEntryCollection:
                if one.OpenQueueDescriptorHandle in queue.OpenQueueDescriptorCollection and one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, entry


@fault("server-cancel-finds-read-of-other-queue-if-handle-has-reads", breaks="MQQP-3.1.4.6-08")
class ServerCancelFindsReadOfOtherQueueIfHandleHasReads(RemoteReadEnding):
    """The server searches the reads of all queues, if reads wait on hQueue but none has the given dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR:
            for one in self.qm.remote.RemoteReadEntryCollection:
                if one.RequestId == request_id:
                    return Status.MQ_OK, one
        return status, entry


@fault("server-cancel-receive-compares-low-16-bits-of-h-queue", breaks="MQQP-3.1.4.6-08")
class ServerCancelReceiveComparesLow16BitsOfHQueue(RemoteReadEnding):
    """The server compares only the low 16 bits of hQueue with the handles of waiting reads."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for one in self.qm.remote.RemoteReadEntryCollection:
            if not (one.OpenQueueDescriptorHandle ^ h_queue) & 0xFFFF:
                h_queue = one.OpenQueueDescriptorHandle
        return super().find_read_to_cancel(h_queue, request_id)
