"""Further faults of MS-MQDMPR 3.1.7.1.6 Close Queue: several reads, cursors and handles."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import RECEIVE, QueueOpening
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status


@fault("close-ends-pending-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class CloseEndsPendingReadsOfOtherHandles(QueueOpening):
    """When a handle is closed, the queue manager also ends the pending reads of the other handles of the queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        for other in list(queue.OpenQueueDescriptorCollection.values()) if queue is not None else []:
            for reader in list(other.WaitingMessageReadOperationCollection):
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("closed-peek-handle-still-restricts-readers", breaks="MQDMPR-3.1.7.1.6-17")
class ClosedPeekHandleStillRestrictsReaders(QueueOpening):
    """A closed handle with PeekAccess and DenyReceive still prevents receivers from opening the queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is not RECEIVE:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc
