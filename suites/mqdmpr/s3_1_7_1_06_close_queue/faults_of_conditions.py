"""Faults that break the rule MQDMPR-3.1.7.1.6-07 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.elements import OpenQueueDescriptor


class _SingleDescriptorKeeper(QueueOpening):
    """Leave the descriptors of some single queues open when the descriptor of several queues is closed; a subclass
    selects which.
    """

    def is_descriptor_left_open(self, number: int, single: OpenQueueDescriptor) -> bool:
        """Return whether the descriptor of a single queue stays open."""
        return False

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        kept = [
            one
            for number, one in enumerate(queue_desc.OpenQueueDescriptorCollection)
            if self.is_descriptor_left_open(number, one)
        ]
        for one in kept:
            queue_desc.OpenQueueDescriptorCollection.remove(one)
        super().close_queue(queue_desc)


@fault("queue-manager-closes-only-two-queues-of-closed-descriptor", breaks="MQDMPR-3.1.7.1.6-07", blind=True)
class QueueManagerClosesOnlyTwoQueuesOfClosedDescriptor(_SingleDescriptorKeeper):
    """When a descriptor of several queues is closed, the queue manager closes only the first two queues."""

    def is_descriptor_left_open(self, number: int, single: OpenQueueDescriptor) -> bool:
        return number > 1


@fault("queue-manager-leaves-outgoing-queues-of-closed-descriptor-open", breaks="MQDMPR-3.1.7.1.6-07", blind=True)
class QueueManagerLeavesOutgoingQueuesOfClosedDescriptorOpen(_SingleDescriptorKeeper):
    """When a descriptor of several queues is closed, the queue manager closes only the local queues."""

    def is_descriptor_left_open(self, number: int, single: OpenQueueDescriptor) -> bool:
        return isinstance(single.QueueReference, OutgoingQueue)


@fault("queue-manager-leaves-local-queues-of-closed-descriptor-open", breaks="MQDMPR-3.1.7.1.6-07", blind=True)
class QueueManagerLeavesLocalQueuesOfClosedDescriptorOpen(_SingleDescriptorKeeper):
    """When a descriptor of several queues is closed, the queue manager closes only the outgoing queues."""

    def is_descriptor_left_open(self, number: int, single: OpenQueueDescriptor) -> bool:
        return not isinstance(single.QueueReference, OutgoingQueue)
