"""Faults of MS-MQDMPR 3.1.7.1.6 Close Queue with other kinds of access."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import DENY_RECEIVE, SEND, QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.elements import OpenQueueDescriptor


@fault("closed-handle-still-restricts-until-last-is-closed", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosedHandleStillRestrictsUntilLastIsClosed(QueueOpening):
    """A closed handle with PeekAccess and DenyReceive still restricts the readers of its queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.ShareMode is DENY_RECEIVE and queue_desc.AccessType.name == "PEEK":
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closing-sender-leaves-descriptor", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosingSenderLeavesDescriptor(QueueOpening):
    """A closed handle with SendAccess stays in the collection of its queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is SEND:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("run-down-of-remote-reader-leaves-descriptor", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class RunDownOfRemoteReaderLeavesDescriptor(RemoteOpening):
    """When the connection of a remote reader is lost, its OpenQueueDescriptor stays in the queue and restricts other
    readers.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        self.cancel_remote_reads(entry)


@fault("closing-multiple-handle-leaves-second-queue-open", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class ClosingMultipleHandleLeavesSecondQueueOpen(QueueOpening):
    """When the OpenQueueDescriptor of several queues is closed, the OpenQueueDescriptors of all queues except the first
    stay in their queues.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        if queue_desc.Multiple:
            del queue_desc.OpenQueueDescriptorCollection[1:]
        super().close_queue(queue_desc)
