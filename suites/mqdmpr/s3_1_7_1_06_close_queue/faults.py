"""Faults of MS-MQDMPR 3.1.7.1.6 Close Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.elements import OpenQueueDescriptor


@fault("closed-open-queue-descriptor-stays-in-queue-collection", breaks="MQDMPR-3.1.7.1.6-17")
class OpeningStaysWithQueue(QueueOpening):
    """A closed OpenQueueDescriptor remains in its queue's collection."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("closing-several-queues-leaves-single-descriptors-open", breaks="MQDMPR-3.1.7.1.6-07")
class SeveralLeavesEachOpen(QueueOpening):
    """Closing the descriptor of queues that were opened together leaves their single descriptors open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue_desc.OpenQueueDescriptorCollection.clear()
        super().close_queue(queue_desc)


@fault("closed-open-queue-descriptor-leaves-cursors-usable", breaks="MQDMPR-3.1.7.1.6-15")
class CursorsLeft(QueueOpening):
    """The cursors of a closed OpenQueueDescriptor can still be used."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue, cursors = queue_desc.QueueReference, dict(queue_desc.CursorCollection)
        queue_desc.CursorCollection.clear()
        super().close_queue(queue_desc)
        if cursors and queue is not None:
            queue_desc.CursorCollection.update(cursors)
            self.qm.descriptors[queue_desc.Handle] = queue_desc
