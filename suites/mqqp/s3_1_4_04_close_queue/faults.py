"""Faults of MS-MQQP 3.1.4.4 RemoteQMCloseQueue."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import both, skip, skip_during
from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound, change_answer_values, error_for_success, throw_refusals
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

add(
    "client-close-queue-on-unknown-context",
    "MQQP-3.1.4.4-02",
    "The client calls RemoteQMCloseQueue on a presentation context that the server did not accept.",
    call_unbound("RemoteQMCloseQueue"),
)
add(
    "server-close-queue-leaves-queue-open",
    ("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"),
    "RemoteQMCloseQueue leaves the queue open.",
    skip_during(RemoteOpening.close_open_queue_entry, QueueOpening.close_queue),
)
add(
    "server-close-queue-leaves-reads-waiting",
    ("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09", "MQQP-3.1.1.3-03", "MQDMPR-3.1.7.1.6-10"),
    "RemoteQMCloseQueue does not cancel the waiting reads of the queue.",
    both(
        skip(RemoteOpening.cancel_remote_reads),
        skip_during(RemoteOpening.close_open_queue_entry, QueueOpening.close_queue),
    ),
)
add(
    "server-close-queue-throws-errors",
    "MQQP-3.1.4.4-D01",
    "RemoteQMCloseQueue throws its errors instead of returning them.",
    throw_refusals(RemoteOpening.remote_qm_close_queue),
)


@fault("server-close-queue-keeps-entry", breaks="MQQP-3.1.4.4-15")
class ServerCloseQueueKeepsEntry(RemoteOpening):
    """RemoteQMCloseQueue keeps the entry of the closed queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(entry)
        self.qm.remote.OpenQueueEntryCollection.add(entry)


@fault("server-close-queue-closes-every-queue", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", "MQQP-3.1.1.5-02"))
class ServerCloseQueueClosesEveryQueue(RemoteOpening):
    """RemoteQMCloseQueue closes every open queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            super().close_open_queue_entry(one)


@fault("server-close-queue-success-returns-error", breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"))
class ServerCloseQueueSuccessReturnsError(RemoteOpening):
    """RemoteQMCloseQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, Return=error_for_success), now)


@fault("server-close-queue-null-handle-accepted", breaks="MQQP-3.1.4.4-05")
class ServerCloseQueueNullHandleAccepted(RemoteOpening):
    """RemoteQMCloseQueue with the context handle NULL returns MQ_OK."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, Return=Status.MQ_OK), now)


@fault(
    "server-close-queue-returns-its-handle",
    breaks=("MQQP-3.1.4.4-15", "MQQP-3.1.4.4-16", "MQQP-3.1.4.3-10", "MQQP-2.2.1.1-01"),
)
class ServerCloseQueueReturnsItsHandle(RemoteOpening):
    """RemoteQMCloseQueue returns its context handle instead of NULL."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_close_queue(change_answer_values(call, pphContext=call.handle), now)


@fault("server-close-queue-closes-other-handles-of-queue", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True)
class ServerCloseQueueClosesOtherHandlesOfQueue(RemoteOpening):
    """RemoteQMCloseQueue also closes all other handles of the same queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().close_open_queue_entry(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            found = self.qm.remote_starting.find_remote_descriptor(other.OpenQueueDescriptorHandle)
            if mine is not None and found is not None and found.QueueReference is mine.QueueReference:
                super().close_open_queue_entry(other)
