"""Faults of MS-MQDMPR 3.1.7.1.6 Close Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status


@fault("closed-open-queue-descriptor-stays-in-queue-collection", breaks="MQDMPR-3.1.7.1.6-17")
class ClosedOpenQueueDescriptorStaysInQueueCollection(QueueOpening):
    """The queue manager leaves a closed OpenQueueDescriptor in the collection of its queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closing-several-queues-leaves-single-descriptors-open", breaks="MQDMPR-3.1.7.1.6-07")
class ClosingSeveralQueuesLeavesSingleDescriptorsOpen(QueueOpening):
    """When the descriptor of several queues is closed, the queue manager leaves their single descriptors open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue_desc.OpenQueueDescriptorCollection.clear()
        super().close_queue(queue_desc)


@fault("closed-open-queue-descriptor-leaves-cursors-usable", breaks="MQDMPR-3.1.7.1.6-15")
class ClosedOpenQueueDescriptorLeavesCursorsUsable(QueueOpening):
    """The queue manager leaves the cursors of a closed OpenQueueDescriptor open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue, cursors = queue_desc.QueueReference, dict(queue_desc.CursorCollection)
        queue_desc.CursorCollection.clear()
        super().close_queue(queue_desc)
        if cursors and queue is not None:
            queue_desc.CursorCollection.update(cursors)
            self.qm.descriptors[queue_desc.Handle] = queue_desc


@fault("closed-handle-ends-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class ClosedHandleEndsReadsOfOtherHandles(RemoteOpening):
    """When a remote reader closes a queue, the reads that wait with other handles of the queue end as well."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        super().close_open_queue_entry(entry)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else ():
            for reader in list(other.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
