"""Faults of RemoteQMPurgeQueue while other queues are open, and faults in the context on which a client calls it."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-purges-unopened-queue-while-other-queue-is-open", breaks="MQQP-3.1.4.7-05", blind=True)
class ServerPurgesUnopenedQueueWhileOtherQueueIsOpen(RemoteQueueOpening):
    """RemoteQMPurgeQueue purges an unopened queue if RemoteQMOpenQueue has opened any other queue."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        collection = self.qm.remote.OpenQueueEntryCollection
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if len(collection) and descriptor is not None and descriptor.QueueReference is not None:
            self.purge_remote_queue(call, descriptor.QueueReference)
        else:
            super().remote_qm_purge_queue(call, now)


@fault("server-purge-queue-purges-queue-opened-last", breaks="MQQP-3.1.4.7-05", blind=True)
class ServerPurgeQueuePurgesQueueOpenedLast(RemoteQueueOpening):
    """RemoteQMPurgeQueue purges the queue that RemoteQMOpenQueue opened last."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        opened = [entry.OpenQueueDescriptorHandle for entry in self.qm.remote.OpenQueueEntryCollection]
        if call.arguments["hQueue"] in opened:
            call.arguments["hQueue"] = opened[-1]
        super().remote_qm_purge_queue(call, now)


add(
    "initiator-remoteqmpurgequeue-context-rejected",
    "MQQP-3.1.4.7-02",
    "A client calls RemoteQMPurgeQueue on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMPurgeQueue"),
    blind=True,
)
add(
    "initiator-remoteqmpurgequeue-context-of-third-call-rejected",
    "MQQP-3.1.4.7-02",
    "From the third call of RemoteQMPurgeQueue on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMPurgeQueue", first_call=3),
    blind=True,
)
