"""Faults of MS-MQQP 3.1.4.6 RemoteQMCancelReceive."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound, change_answer_values, error_for_success, throw_refusals
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "client-cancel-receive-on-unknown-context",
    "MQQP-3.1.4.6-04",
    "The client calls RemoteQMCancelReceive on a presentation context that the server did not accept.",
    call_unbound("RemoteQMCancelReceive"),
)
add(
    "server-cancel-receive-p-queue-ignored",
    "MQQP-3.1.4.6-07",
    "RemoteQMCancelReceive does not compare pQueue with hQueue.",
    skip(RemoteEnding.check_cancel_queue),
)
add(
    "server-cancel-receive-keeps-entry",
    "MQQP-3.1.4.6-19",
    "RemoteQMCancelReceive keeps the entry of the cancelled read.",
    skip_during(RemoteEnding.cancel_remote_read, RemoteReads.remove_remote_read_entry),
)
add(
    "server-cancel-receive-throws-errors",
    "MQQP-3.1.4.6-D02",
    "RemoteQMCancelReceive throws its errors instead of returning them.",
    throw_refusals(RemoteEnding.remote_qm_cancel_receive),
)


@fault(
    "server-cancel-receive-success-returns-error",
    breaks=(
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.6-20",
        "MQQP-3.1.4.6-D01",
    ),
)
class ServerCancelReceiveSuccessReturnsError(RemoteEnding):
    """RemoteQMCancelReceive returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(change_answer_values(call, Return=error_for_success), now)


@fault("server-cancel-receive-h-queue-ignored", breaks="MQQP-3.1.4.6-08")
class ServerCancelReceiveHQueueIgnored(RemoteEnding):
    """RemoteQMCancelReceive cancels the read with the given dwRequestID in any queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for read in self.qm.remote.reads.values():
            if read.RequestId == request_id:
                return Status.MQ_OK, read
        return super().find_read_to_cancel(h_queue, request_id)


@fault(
    "server-cancel-receive-idle-queue-accepted",
    breaks="MQQP-3.1.4.6-09",
)
class ServerCancelReceiveIdleQueueAccepted(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_OK for a queue on which no read waits."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_OK if status is Status.MQ_ERROR_INVALID_HANDLE else status), entry


@fault("server-cancel-receive-ends-first-read", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02"))
class ServerCancelReceiveEndsFirstRead(RemoteEnding):
    """RemoteQMCancelReceive ignores its dwRequestID and cancels the first waiting read of the queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        return super().find_read_to_cancel(h_queue, entries[0].RequestId if entries else request_id)


@fault("server-cancel-receive-unknown-id-wrong-status", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveUnknownIdWrongStatus(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_ERROR_INVALID_HANDLE for an unknown dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR_INVALID_HANDLE if status is Status.MQ_ERROR else status), entry


@fault("server-cancel-receive-closes-queue", breaks="MQQP-3.1.4.6-14")
class ServerCancelReceiveClosesQueue(RemoteEnding):
    """RemoteQMCancelReceive closes the queue of the cancelled read."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault(
    "server-cancel-receive-leaves-read-waiting",
    breaks=(
        "MQQP-3.1.4.6-15",
        "MQQP-3.1.4.6-D01",
    ),
)
class ServerCancelReceiveLeavesReadWaiting(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_OK and lets the read wait."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return Status.MQ_OK


# -- the client -------------------------------------------------------------------------------------------------------


@fault("client-cancel-receive-before-read", breaks="MQQP-3.1.4.6-03")
class ClientCancelReceiveBeforeRead(ClientReading):
    """The client calls RemoteQMCancelReceive before the method that starts the read."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        yield from self._cancel(read)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> Sequence:
        yield from self._cancel(read)
        return (yield from super().start_receive2(read))

    def _cancel(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.qm.client_cancelling.call_cancel_receive(read.entry)


@fault("server-cancel-receive-ends-oldest-read", breaks="MQQP-3.1.4.6-10", blind=True)
class ServerCancelReceiveEndsOldestRead(RemoteEnding):
    """RemoteQMCancelReceive ignores its dwRequestID and cancels the oldest waiting read of the queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if found is None:
            return status, found
        return status, self.qm.remote.RemoteReadEntryCollection.of(h_queue)[0]


@fault("server-cancelled-peek-waits-on", breaks="MQQP-3.1.4.6-05")
class ServerCancelledPeekWaitsOn(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_OK for a waiting peek, but does not cancel the peek."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return super().cancel_remote_read(entry, status) if entry.Action in RECEIVE_ACTIONS else Status.MQ_OK
