"""Faults of MS-MQQP 3.1.4.4 RemoteQMCloseQueue."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import both, skip, skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, called_unbound, error_for_success, throwing
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "rpc-unbound-RemoteQMCloseQueue",
    "MQQP-3.1.4.4-02",
    "RemoteQMCloseQueue is called on a context that was never agreed on.",
    called_unbound("RemoteQMCloseQueue"),
)
add(
    "remote-close-not-closed",
    ("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"),
    "The queue stays open.",
    skip_during(RemoteOpening.close_open_queue_entry, QueueOpening.close_queue),
)
add(
    "remote-close-reads-left",
    ("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09", "MQQP-3.1.1.3-03", "MQDMPR-3.1.7.1.6-10"),
    "Reads go on waiting.",
    both(
        skip(RemoteOpening.cancel_remote_reads),
        skip_during(RemoteOpening.close_open_queue_entry, QueueOpening.close_queue),
    ),
)
add(
    "remote-close-throws",
    "MQQP-3.1.4.4-D01",
    "RemoteQMCloseQueue throws what it refuses.",
    throwing(RemoteOpening.remote_qm_close_queue),
)


@fault("remote-close-keeps-the-entry", breaks="MQQP-3.1.4.4-15")
class EntryKept(RemoteOpening):
    """The entry of a queue that is closed stays in the collection."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(entry)
        self.qm.remote.OpenQueueEntryCollection.add(entry)


@fault("remote-close-every-queue", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", "MQQP-3.1.1.5-02"))
class EveryQueueClosed(RemoteOpening):
    """Every queue is closed."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            super().close_open_queue_entry(one)


@fault("remote-close-status-wrong", breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"))
class StatusWrong(RemoteOpening):
    """Success returns an error."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(answering(call, Return=error_for_success), now)


@fault("remote-close-null-taken", breaks="MQQP-3.1.4.4-05")
class NullTaken(RemoteOpening):
    """NULL is closed with success."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(answering(call, Return=Status.MQ_OK), now)


@fault("remote-close-handle-kept", breaks=("MQQP-3.1.4.4-15", "MQQP-3.1.4.4-16", "MQQP-3.1.4.3-10", "MQQP-2.2.1.1-01"))
class HandleKept(RemoteOpening):
    """The handle stays."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(answering(call, pphContext=call.handle), now)


@fault("closing-a-handle-closes-its-queue-for-all", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True)
class ClosingAHandleClosesItsQueueForAll(RemoteOpening):
    """Closing one of two handles of a queue closes the other, too."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().close_open_queue_entry(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            found = self.qm.remote_starting.find_remote_descriptor(other.OpenQueueDescriptorHandle)
            if mine is not None and found is not None and found.QueueReference is mine.QueueReference:
                super().close_open_queue_entry(other)
