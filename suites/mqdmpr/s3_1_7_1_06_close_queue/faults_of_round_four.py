"""Faults that break rules of MS-MQDMPR 3.1.7.1.6 Close Queue, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.elements import OpenQueueDescriptor


@fault("queue-manager-closed-descriptor-with-cursor-stays-in-queue", breaks="MQDMPR-3.1.7.1.6-17", blind=True)
class QueueManagerClosedDescriptorWithCursorStaysInQueue(QueueOpening):
    """When an OpenQueueDescriptor that has a cursor is closed, the queue manager does not remove it from the
    OpenQueueDescriptorCollection of its queue.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        has_cursor = bool(queue_desc.CursorCollection)
        super().close_queue(queue_desc)
        if has_cursor and queue_desc.QueueReference is not None:
            queue_desc.QueueReference.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc
