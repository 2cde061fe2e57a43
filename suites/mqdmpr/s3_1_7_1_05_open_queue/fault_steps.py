"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


class SeveralQueueDescriptorChanger(QueueOpening):
    """Change the OpenQueueDescriptors that are returned for several queues."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None and descriptor.Multiple:
            descriptor = self.change_descriptor(descriptor, format_name)
        return status, descriptor

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        """Return the descriptor for several queues that the caller gets. ``format_name`` is the requested name."""
        raise NotImplementedError


def is_descriptor_of_local_queue(descriptor: OpenQueueDescriptor) -> bool:
    """Return whether the descriptor of a single queue belongs to a local queue."""
    return not isinstance(descriptor.QueueReference, OutgoingQueue)


def list_earlier_descriptors_of_several_queues(
    part: QueueOpening, several: OpenQueueDescriptor
) -> list[OpenQueueDescriptor]:
    """Return the other open descriptors for several queues, in the order of their opening."""
    return [one for one in part.qm.descriptors.values() if one.Multiple and one is not several]


class SingleQueueDescriptorChanger(QueueOpening):
    """Change the OpenQueueDescriptor of a single queue, before the caller gets the descriptor."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        earlier = list(queue.OpenQueueDescriptorCollection.values())
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None:
            descriptor = self.change_descriptor(descriptor, earlier)
        return status, descriptor

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        """Return the descriptor that the caller gets. ``earlier`` contains the earlier descriptors of the queue."""
        raise NotImplementedError


class CreatedOutgoingQueueChanger(DestinationResolving):
    """Change the outgoing queues that are created."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        known = list(self.qm.adm.OutgoingQueues.values())
        queue = super().open_outgoing_queue(text, now)
        if queue not in known:
            self.change_outgoing_queue(queue, known)
        return queue

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        """Change the new outgoing queue. ``known`` contains the outgoing queues that existed before."""
        raise NotImplementedError
