"""Faults of MS-MQQP 3.1.4.6 RemoteQMCancelReceive."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, called_unbound, error_for_success, throwing
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "rpc-unbound-RemoteQMCancelReceive",
    "MQQP-3.1.4.6-04",
    "RemoteQMCancelReceive is called on a context that was never agreed on.",
    called_unbound("RemoteQMCancelReceive"),
)
add(
    "remote-cancel-pointer-ignored",
    "MQQP-3.1.4.6-07",
    "pQueue is not looked at.",
    skip(RemoteEnding.check_cancel_queue),
)
add(
    "remote-cancel-kept",
    "MQQP-3.1.4.6-19",
    "The entry stays.",
    skip_during(RemoteEnding.cancel_remote_read, RemoteReads.remove_remote_read_entry),
)
add(
    "remote-cancel-throws",
    "MQQP-3.1.4.6-D02",
    "RemoteQMCancelReceive throws what it refuses.",
    throwing(RemoteEnding.remote_qm_cancel_receive),
)


@fault(
    "remote-cancel-status-wrong",
    breaks=(
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.6-20",
        "MQQP-3.1.4.6-D01",
    ),
)
class StatusWrong(RemoteEnding):
    """Success returns an error."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(answering(call, Return=error_for_success), now)


@fault("remote-cancel-of-any-queue", breaks="MQQP-3.1.4.6-08")
class OfAnyQueue(RemoteEnding):
    """The queue is not looked at."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for read in self.qm.remote.reads.values():
            if read.RequestId == request_id:
                return Status.MQ_OK, read
        return super().find_read_to_cancel(h_queue, request_id)


@fault(
    "remote-cancel-idle-queue-taken",
    breaks="MQQP-3.1.4.6-09",
)
class IdleQueueTaken(RemoteEnding):
    """Nothing is cancelled with success."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_OK if status is Status.MQ_ERROR_INVALID_HANDLE else status), entry


@fault("remote-cancel-first-cancelled", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02"))
class FirstCancelled(RemoteEnding):
    """The first read is cancelled."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        return super().find_read_to_cancel(h_queue, entries[0].RequestId if entries else request_id)


@fault("remote-cancel-unknown-as-idle", breaks="MQQP-3.1.4.6-11")
class UnknownAsIdle(RemoteEnding):
    """An unknown read is an invalid handle."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR_INVALID_HANDLE if status is Status.MQ_ERROR else status), entry


@fault("remote-cancel-closes", breaks="MQQP-3.1.4.6-14")
class QueueClosed(RemoteEnding):
    """The queue is closed."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        cancelled = super().cancel_remote_read(entry, status)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            self.qm.queue_opening.close_queue(descriptor)
        return cancelled


@fault(
    "remote-cancel-left-waiting",
    breaks=(
        "MQQP-3.1.4.6-15",
        "MQQP-3.1.4.6-D01",
    ),
)
class LeftWaiting(RemoteEnding):
    """The read goes on waiting."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        return Status.MQ_OK


# -- the client -------------------------------------------------------------------------------------------------------


@fault("remote-cancel-before-read", breaks="MQQP-3.1.4.6-03")
class CancelledBefore(ClientReading):
    """Whatever is under the identifier of a read is cancelled before the read is begun."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        yield from self._cancel(read)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> Sequence:
        yield from self._cancel(read)
        return (yield from super().start_receive2(read))

    def _cancel(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.qm.client_cancelling.call_cancel_receive(read.entry)


@fault("cancel-ends-the-oldest-read", breaks="MQQP-3.1.4.6-10", blind=True)
class CancelEndsTheOldestRead(RemoteEnding):
    """Whatever the dwRequestID, the read that has waited longest is cancelled."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if found is None:
            return status, found
        return status, self.qm.remote.RemoteReadEntryCollection.of(h_queue)[0]
