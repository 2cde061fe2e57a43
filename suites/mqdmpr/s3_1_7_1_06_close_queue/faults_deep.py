"""Faults of MS-MQDMPR 3.1.7.1.6 Close Queue that only special cases reveal: several handles of one queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status


@fault("queue-manager-close-queue-closes-first-of-several-only", breaks="MQDMPR-3.1.7.1.6-07")
class QueueManagerCloseQueueClosesFirstOfSeveralOnly(QueueOpening):
    """When an OpenQueueDescriptor for several queues is closed, the queue manager closes only the first of these
    queues.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        del queue_desc.OpenQueueDescriptorCollection[1:]
        super().close_queue(queue_desc)


@fault("queue-manager-close-queue-ends-reads-of-other-handles", breaks="MQDMPR-3.1.7.1.6-10")
class QueueManagerCloseQueueEndsReadsOfOtherHandles(QueueOpening):
    """When an OpenQueueDescriptor is closed, the queue manager also ends the pending reads with the other handles of
    the queue.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        waiting = queue_desc.WaitingMessageReadOperationCollection
        if queue is not None and waiting:
            for other in list(queue.OpenQueueDescriptorCollection.values()):
                for reader in list(other.WaitingMessageReadOperationCollection) if other is not queue_desc else ():
                    self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        super().close_queue(queue_desc)


@fault("queue-manager-closed-handle-restricts-while-others-are-open", breaks="MQDMPR-3.1.7.1.6-17")
class QueueManagerClosedHandleRestrictsWhileOthersAreOpen(QueueOpening):
    """A closed OpenQueueDescriptor still restricts other readers while another handle of the queue is open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        others = queue is not None and len(queue.OpenQueueDescriptorCollection) > 1
        super().close_queue(queue_desc)
        if queue is not None and others:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc
