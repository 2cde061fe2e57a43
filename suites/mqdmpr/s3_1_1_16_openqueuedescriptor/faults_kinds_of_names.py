"""Faults that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor for one kind of format name, queue or reader."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MulticastName, MultipleElementName
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.surface.clock import Now


class _SingleQueueDescriptorChanger(QueueOpening):
    """Change the descriptor of a single queue."""

    def change_descriptor_of_single_queue(self, queue: Queue, descriptor: OpenQueueDescriptor) -> None:
        """Change a new descriptor, which is not yet in the collection of its queue."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None:
            self.change_descriptor_of_single_queue(queue, descriptor)
        return status, descriptor


@fault("queue-manager-descriptor-of-multicast-name-contains-other-descriptor", breaks="MQDMPR-3.1.1.16-05", blind=True)
class QueueManagerDescriptorOfMulticastNameContainsOtherDescriptor(_SingleQueueDescriptorChanger):
    """The OpenQueueDescriptorCollection of a descriptor of a multicast name contains another descriptor."""

    def change_descriptor_of_single_queue(self, queue: Queue, descriptor: OpenQueueDescriptor) -> None:
        if isinstance(parse_format_name(descriptor.FormatName), MulticastName):
            others = [one for one in self.qm.descriptors.values() if one is not descriptor]
            descriptor.OpenQueueDescriptorCollection.extend(others[:1])


@fault("queue-manager-descriptor-of-remote-reader-contains-other-descriptor", breaks="MQDMPR-3.1.1.16-05", blind=True)
class QueueManagerDescriptorOfRemoteReaderContainsOtherDescriptor(QmcommMethods):
    """The OpenQueueDescriptorCollection of a remote reader's descriptor contains another descriptor."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        others = [one for one in self.qm.descriptors.values() if one is not descriptor]
        descriptor.OpenQueueDescriptorCollection.extend(others[:1])
        return super().get_open_handle_values(descriptor)


class _SeveralQueuesDescriptorChanger(QueueOpening):
    """Change the descriptor of several queues."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        """Change a new descriptor; ``given`` is the format name that the application passed."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None and descriptor.Multiple:
            self.change_descriptor_of_several_queues(parse_format_name(format_name), descriptor)
        return status, descriptor

    def list_local_queues(self, descriptor: OpenQueueDescriptor) -> list[Queue]:
        """Return the queues of this queue manager among the queues of a descriptor."""
        queues = [one.QueueReference for one in descriptor.OpenQueueDescriptorCollection]
        return [one for one in queues if one is not None and not isinstance(one, OutgoingQueue)]

    def is_second_descriptor_of_several_queues(self, descriptor: OpenQueueDescriptor) -> bool:
        """Return whether another descriptor of several queues is open."""
        return sum(one.Multiple for one in self.qm.descriptors.values()) > 1


@fault("queue-manager-descriptor-of-distribution-list-has-receive-access", breaks="MQDMPR-3.1.1.16-06", blind=True)
class QueueManagerDescriptorOfDistributionListHasReceiveAccess(_SeveralQueuesDescriptorChanger):
    """The AccessType of the descriptor for a distribution list with several members is ReceiveAccess."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if isinstance(given, DistributionListName):
            descriptor.AccessType = QueueAccessType.RECEIVE


@fault("queue-manager-descriptor-of-several-local-queues-has-receive-access", breaks="MQDMPR-3.1.1.16-06", blind=True)
class QueueManagerDescriptorOfSeveralLocalQueuesHasReceiveAccess(_SeveralQueuesDescriptorChanger):
    """The AccessType of a descriptor for several local queues is ReceiveAccess."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if len(self.list_local_queues(descriptor)) == len(descriptor.OpenQueueDescriptorCollection):
            descriptor.AccessType = QueueAccessType.RECEIVE


@fault("queue-manager-second-descriptor-of-several-queues-has-move-access", breaks="MQDMPR-3.1.1.16-06", blind=True)
class QueueManagerSecondDescriptorOfSeveralQueuesHasMoveAccess(_SeveralQueuesDescriptorChanger):
    """The AccessType of a second descriptor for several queues is MoveAccess."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if self.is_second_descriptor_of_several_queues(descriptor):
            descriptor.AccessType = QueueAccessType.MOVE


@fault("queue-manager-remote-read-state-of-distribution-list-is-opened", breaks="MQDMPR-3.1.1.16-07", blind=True)
class QueueManagerRemoteReadStateOfDistributionListIsOpened(_SeveralQueuesDescriptorChanger):
    """The RemoteReadState of the descriptor for a distribution list with several members is Opened."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if isinstance(given, DistributionListName):
            descriptor.RemoteReadState = RemoteReadState.OPENED


@fault("queue-manager-remote-read-state-of-second-list-descriptor-is-opened", breaks="MQDMPR-3.1.1.16-07", blind=True)
class QueueManagerRemoteReadStateOfSecondListDescriptorIsOpened(_SeveralQueuesDescriptorChanger):
    """The RemoteReadState of a second descriptor for several queues is Opened."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if self.is_second_descriptor_of_several_queues(descriptor):
            descriptor.RemoteReadState = RemoteReadState.OPENED


@fault("queue-manager-read-state-of-remote-queues-ready-for-read", breaks="MQDMPR-3.1.1.16-07", blind=True)
class QueueManagerReadStateOfRemoteQueuesReadyForRead(_SeveralQueuesDescriptorChanger):
    """The RemoteReadState of a descriptor for several queues of other computers is ReadyForRead."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if not self.list_local_queues(descriptor):
            descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ


@fault("queue-manager-descriptor-of-several-local-queues-refers-to-last-queue", breaks="MQDMPR-3.1.1.16-08", blind=True)
class QueueManagerDescriptorOfSeveralLocalQueuesRefersToLastQueue(_SeveralQueuesDescriptorChanger):
    """The QueueReference of a descriptor for several local queues is the last of these queues."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        local = self.list_local_queues(descriptor)
        if len(local) == len(descriptor.OpenQueueDescriptorCollection):
            descriptor.QueueReference = local[-1]


@fault("queue-manager-descriptor-of-mixed-list-refers-to-first-queue", breaks="MQDMPR-3.1.1.16-08", blind=True)
class QueueManagerDescriptorOfMixedListRefersToFirstQueue(_SeveralQueuesDescriptorChanger):
    """The QueueReference of a descriptor for a list of names that contains a distribution list is the first queue."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        elements = given.Elements if isinstance(given, MultipleElementName) else ()
        if any(isinstance(one, DistributionListName) for one in elements):
            descriptor.QueueReference = descriptor.OpenQueueDescriptorCollection[0].QueueReference


@fault(
    "queue-manager-second-descriptor-of-several-queues-refers-to-first-queue", breaks="MQDMPR-3.1.1.16-08", blind=True
)
class QueueManagerSecondDescriptorOfSeveralQueuesRefersToFirstQueue(_SeveralQueuesDescriptorChanger):
    """The QueueReference of a second descriptor for several queues is the first queue."""

    def change_descriptor_of_several_queues(self, given: FormatName | None, descriptor: OpenQueueDescriptor) -> None:
        if self.is_second_descriptor_of_several_queues(descriptor):
            descriptor.QueueReference = descriptor.OpenQueueDescriptorCollection[0].QueueReference


@fault("queue-manager-new-remote-peek-descriptor-already-ready-for-read", breaks="MQDMPR-3.1.1.16-12", blind=True)
class QueueManagerNewRemotePeekDescriptorAlreadyReadyForRead(QmcommMethods):
    """If a remote reader opens a queue to peek, the RemoteReadState of its descriptor is ReadyForRead at once."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        if descriptor.AccessType is QueueAccessType.PEEK:
            descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ
        return super().get_open_handle_values(descriptor)


@fault("queue-manager-remote-read-state-of-second-remote-reader-is-none", breaks="MQDMPR-3.1.1.16-12", blind=True)
class QueueManagerRemoteReadStateOfSecondRemoteReaderIsNone(QmcommMethods):
    """The RemoteReadState of a remote reader's descriptor is None if another remote reader has opened the queue."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        queue = descriptor.QueueReference
        if queue is not None and len(queue.OpenQueueDescriptorCollection) > 1:
            descriptor.RemoteReadState = RemoteReadState.NONE
        return super().get_open_handle_values(descriptor)


@fault("queue-manager-read-state-ready-when-cursor-is-created", breaks="MQDMPR-3.1.1.16-12", blind=True)
class QueueManagerReadStateReadyWhenCursorIsCreated(QueueCursors):
    """The RemoteReadState of a remote reader's descriptor becomes ReadyForRead when the reader creates a cursor."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        if queue_desc.RemoteReadState is RemoteReadState.OPENED:
            queue_desc.RemoteReadState = RemoteReadState.READY_FOR_READ
        return super().open(queue_desc)
