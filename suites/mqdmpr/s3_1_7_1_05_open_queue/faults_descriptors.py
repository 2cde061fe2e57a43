"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about the returned OpenQueueDescriptor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import PEEK_ACCESSES, OpenQueueResult, QueueOpening
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_05_open_queue.fault_steps import SingleQueueDescriptorChanger, is_descriptor_of_local_queue

SEND_ACCESS, RECEIVE_ACCESS, PEEK_ACCESS = QueueAccessType.SEND, QueueAccessType.RECEIVE, QueueAccessType.PEEK
READ_ACCESS_TYPES = (RECEIVE_ACCESS, *PEEK_ACCESSES)


class EarlierDescriptorReturner(SingleQueueDescriptorChanger):
    """Return an earlier descriptor of the queue instead of a new one."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        for one in earlier:
            if self.is_earlier_descriptor_returned(descriptor, one):
                self.close_queue(descriptor)
                return one
        return descriptor

    def is_earlier_descriptor_returned(self, descriptor: OpenQueueDescriptor, one: OpenQueueDescriptor) -> bool:
        """Return whether the queue manager returns an earlier descriptor instead of a new one."""
        raise NotImplementedError


@fault("queue-manager-second-opening-for-sending-returns-first-descriptor", breaks="MQDMPR-3.1.7.1.5-116", blind=True)
class QueueManagerSecondOpeningForSendingReturnsFirstDescriptor(EarlierDescriptorReturner):
    """When a queue is opened for sending again, the queue manager creates no new OpenQueueDescriptor."""

    def is_earlier_descriptor_returned(self, descriptor: OpenQueueDescriptor, one: OpenQueueDescriptor) -> bool:
        return descriptor.AccessType is SEND_ACCESS and one.AccessType is SEND_ACCESS


@fault("queue-manager-second-opening-to-peek-returns-first-descriptor", breaks="MQDMPR-3.1.7.1.5-116", blind=True)
class QueueManagerSecondOpeningToPeekReturnsFirstDescriptor(EarlierDescriptorReturner):
    """When a queue is opened with PeekAccess again, the queue manager creates no new OpenQueueDescriptor."""

    def is_earlier_descriptor_returned(self, descriptor: OpenQueueDescriptor, one: OpenQueueDescriptor) -> bool:
        return descriptor.AccessType is PEEK_ACCESS and one.AccessType is PEEK_ACCESS


@fault("queue-manager-third-opening-to-receive-returns-second-descriptor", breaks="MQDMPR-3.1.7.1.5-116", blind=True)
class QueueManagerThirdOpeningToReceiveReturnsSecondDescriptor(SingleQueueDescriptorChanger):
    """When a queue is opened with ReceiveAccess a third time, the queue manager creates no new OpenQueueDescriptor."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        same = [one for one in earlier if one.AccessType is RECEIVE_ACCESS and descriptor.AccessType is RECEIVE_ACCESS]
        if len(same) < 2:
            return descriptor
        self.close_queue(descriptor)
        return same[-1]


@fault("queue-manager-second-receiver-of-queue-gets-peek-access", breaks="MQDMPR-3.1.7.1.5-117", blind=True)
class QueueManagerSecondReceiverOfQueueGetsPeekAccess(SingleQueueDescriptorChanger):
    """The AccessType of a second OpenQueueDescriptor with ReceiveAccess is PeekAccess."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if descriptor.AccessType is RECEIVE_ACCESS and any(one.AccessType is RECEIVE_ACCESS for one in earlier):
            descriptor.AccessType = PEEK_ACCESS
        return descriptor


@fault("queue-manager-receiver-beside-peeking-reader-gets-peek-access", breaks="MQDMPR-3.1.7.1.5-117", blind=True)
class QueueManagerReceiverBesidePeekingReaderGetsPeekAccess(SingleQueueDescriptorChanger):
    """The AccessType of an OpenQueueDescriptor with ReceiveAccess is PeekAccess if another reader peeks."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if descriptor.AccessType is RECEIVE_ACCESS and any(one.AccessType is PEEK_ACCESS for one in earlier):
            descriptor.AccessType = PEEK_ACCESS
        return descriptor


@fault("queue-manager-sender-of-local-queue-gets-receive-access", breaks="MQDMPR-3.1.7.1.5-117", blind=True)
class QueueManagerSenderOfLocalQueueGetsReceiveAccess(SingleQueueDescriptorChanger):
    """The AccessType of an OpenQueueDescriptor for sending to a local queue is ReceiveAccess."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if descriptor.AccessType is SEND_ACCESS and is_descriptor_of_local_queue(descriptor):
            descriptor.AccessType = RECEIVE_ACCESS
        return descriptor


class QueueReferenceChanger(SingleQueueDescriptorChanger):
    """Let the descriptors of some local queues refer to a wrong queue; a subclass selects the descriptors and the
    queue.
    """

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        queue = descriptor.QueueReference
        name = "" if queue is None else queue.Pathname
        if is_descriptor_of_local_queue(descriptor) and self.is_queue_reference_changed(descriptor, name):
            descriptor.QueueReference = self.choose_referenced_queue(descriptor)
        return descriptor

    def is_queue_reference_changed(self, descriptor: OpenQueueDescriptor, name: str) -> bool:
        """Return whether the new descriptor refers to a wrong queue."""
        raise NotImplementedError

    def choose_referenced_queue(self, descriptor: OpenQueueDescriptor) -> Queue | None:
        """Return the wrong queue to which the new descriptor refers."""
        raise NotImplementedError


@fault("queue-manager-queue-reference-names-earlier-opened-queue", breaks="MQDMPR-3.1.7.1.5-118", blind=True)
class QueueManagerQueueReferenceNamesEarlierOpenedQueue(QueueReferenceChanger):
    """If another queue is already open to read, the QueueReference of a new OpenQueueDescriptor is that queue."""

    def is_queue_reference_changed(self, descriptor: OpenQueueDescriptor, name: str) -> bool:
        return bool(self.list_open_descriptors(descriptor))

    def list_open_descriptors(self, descriptor: OpenQueueDescriptor) -> list[OpenQueueDescriptor]:
        """Return the earlier descriptors of other local queues that are open to read."""
        return [
            one
            for one in self.qm.descriptors.values()
            if one.AccessType in READ_ACCESS_TYPES and one.QueueReference not in (None, descriptor.QueueReference)
        ]

    def choose_referenced_queue(self, descriptor: OpenQueueDescriptor) -> Queue | None:
        return self.list_open_descriptors(descriptor)[0].QueueReference


@fault("queue-manager-opened-journal-refers-to-its-queue", breaks="MQDMPR-3.1.7.1.5-118", blind=True)
class QueueManagerOpenedJournalRefersToItsQueue(QueueReferenceChanger):
    """The QueueReference of an OpenQueueDescriptor for a journal is the queue of the journal."""

    def is_queue_reference_changed(self, descriptor: OpenQueueDescriptor, name: str) -> bool:
        queue = descriptor.QueueReference
        return queue is not None and queue.parent is not None and queue.parent.JournalQueueReference is queue

    def choose_referenced_queue(self, descriptor: OpenQueueDescriptor) -> Queue | None:
        return None if descriptor.QueueReference is None else descriptor.QueueReference.parent


@fault("queue-manager-opened-subqueue-refers-to-its-queue", breaks="MQDMPR-3.1.7.1.5-118", blind=True)
class QueueManagerOpenedSubqueueRefersToItsQueue(QueueReferenceChanger):
    """The QueueReference of an OpenQueueDescriptor for a subqueue is the queue of the subqueue."""

    def is_queue_reference_changed(self, descriptor: OpenQueueDescriptor, name: str) -> bool:
        queue = descriptor.QueueReference
        return queue is not None and queue.parent is not None and queue in queue.parent.SubqueueCollection.values()

    def choose_referenced_queue(self, descriptor: OpenQueueDescriptor) -> Queue | None:
        return None if descriptor.QueueReference is None else descriptor.QueueReference.parent


@fault("queue-manager-descriptor-format-name-of-local-queue-is-path-name", breaks="MQDMPR-3.1.7.1.5-119", blind=True)
class QueueManagerDescriptorFormatNameOfLocalQueueIsPathName(SingleQueueDescriptorChanger):
    """The FormatName of an OpenQueueDescriptor for a local queue is the path name of the queue."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if is_descriptor_of_local_queue(descriptor) and descriptor.QueueReference is not None:
            descriptor.FormatName = descriptor.QueueReference.Pathname
        return descriptor


@fault("queue-manager-second-descriptor-has-format-name-of-first", breaks="MQDMPR-3.1.7.1.5-119", blind=True)
class QueueManagerSecondDescriptorHasFormatNameOfFirst(SingleQueueDescriptorChanger):
    """A second OpenQueueDescriptor of a queue has the FormatName of the first one, although the queue was opened by
    another name.
    """

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if earlier:
            descriptor.FormatName = earlier[0].FormatName
        return descriptor


@fault(
    "queue-manager-single-descriptor-has-format-name-of-all-opened-queues", breaks="MQDMPR-3.1.7.1.5-119", blind=True
)
class QueueManagerSingleDescriptorHasFormatNameOfAllOpenedQueues(QueueOpening):
    """The FormatName of the OpenQueueDescriptor of each single queue contains the names of all queues that are opened
    together.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        for one in descriptor.OpenQueueDescriptorCollection if descriptor is not None else ():
            one.FormatName = descriptor.FormatName if descriptor is not None else ""
        return status, descriptor


class MultipleTrueSetterOfSingleQueueDescriptor(SingleQueueDescriptorChanger):
    """Set the attribute Multiple of some descriptors of single queues to True, but use these descriptors as before."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        descriptor.Multiple = self.is_multiple_attribute_set_to_true(descriptor, earlier)
        return descriptor

    def is_multiple_attribute_set_to_true(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        """Return whether the attribute Multiple of the descriptor is set to True."""
        raise NotImplementedError


@fault("queue-manager-multiple-true-in-descriptor-of-remote-queue", breaks="MQDMPR-3.1.7.1.5-120", blind=True)
class QueueManagerMultipleTrueInDescriptorOfRemoteQueue(MultipleTrueSetterOfSingleQueueDescriptor):
    """The attribute Multiple of the OpenQueueDescriptor of a single remote queue is True."""

    def is_multiple_attribute_set_to_true(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return not is_descriptor_of_local_queue(descriptor)


@fault("queue-manager-multiple-true-in-second-descriptor-of-queue", breaks="MQDMPR-3.1.7.1.5-120", blind=True)
class QueueManagerMultipleTrueInSecondDescriptorOfQueue(MultipleTrueSetterOfSingleQueueDescriptor):
    """The attribute Multiple of a second OpenQueueDescriptor of a queue is True."""

    def is_multiple_attribute_set_to_true(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return bool(earlier)


@fault("queue-manager-multiple-true-in-read-descriptor-of-local-queue", breaks="MQDMPR-3.1.7.1.5-120", blind=True)
class QueueManagerMultipleTrueInReadDescriptorOfLocalQueue(MultipleTrueSetterOfSingleQueueDescriptor):
    """The attribute Multiple of the OpenQueueDescriptor of a local queue that is opened to read is True."""

    def is_multiple_attribute_set_to_true(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return descriptor.AccessType in READ_ACCESS_TYPES


class DescriptorHandleRepeater(SingleQueueDescriptorChanger):
    """Give a new descriptor the handle of an earlier one."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        queue = descriptor.QueueReference
        for one in self.list_descriptors_with_reused_handle(descriptor, earlier):
            if queue is not None:
                del self.qm.descriptors[descriptor.Handle]
                descriptor.Handle = one.Handle
                self.qm.descriptors[one.Handle] = descriptor
            break
        return descriptor

    def list_descriptors_with_reused_handle(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> list[OpenQueueDescriptor]:
        """Return the descriptors whose handle a new descriptor may get."""
        raise NotImplementedError


@fault("queue-manager-descriptor-has-handle-of-other-open-queue", breaks="MQDMPR-3.1.7.1.5-121", blind=True)
class QueueManagerDescriptorHasHandleOfOtherOpenQueue(DescriptorHandleRepeater):
    """The Handle of an OpenQueueDescriptor is that of another queue that is open with the same access."""

    def list_descriptors_with_reused_handle(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> list[OpenQueueDescriptor]:
        return [
            one
            for one in self.qm.descriptors.values()
            if one.QueueReference not in (None, descriptor.QueueReference) and one.AccessType is descriptor.AccessType
        ]


@fault("queue-manager-descriptor-has-handle-of-descriptor-of-other-access", breaks="MQDMPR-3.1.7.1.5-121", blind=True)
class QueueManagerDescriptorHasHandleOfDescriptorOfOtherAccess(DescriptorHandleRepeater):
    """The Handle of an OpenQueueDescriptor is that of a descriptor of the same queue with a different access."""

    def list_descriptors_with_reused_handle(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> list[OpenQueueDescriptor]:
        return [one for one in earlier if one.AccessType is not descriptor.AccessType]


@fault("queue-manager-third-handle-of-queue-repeats-first", breaks="MQDMPR-3.1.7.1.5-121", blind=True)
class QueueManagerThirdHandleOfQueueRepeatsFirst(DescriptorHandleRepeater):
    """The Handle of a third OpenQueueDescriptor of a queue is that of the first one."""

    def list_descriptors_with_reused_handle(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> list[OpenQueueDescriptor]:
        return earlier if len(earlier) >= 2 else []


class DescriptorContextValueRepeater(QmcommMethods):
    """Return the ContextValue of another descriptor."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        values = super().get_open_handle_values(descriptor)
        for other in self.qm.descriptors.values():
            queue = other.QueueReference
            if other is not descriptor and queue is not None and self.is_context_value_repeated(descriptor, other):
                return dict.fromkeys(values, other.Handle)
        return values

    def is_context_value_repeated(self, descriptor: OpenQueueDescriptor, other: OpenQueueDescriptor) -> bool:
        """Return whether the server returns the ContextValue of the other descriptor."""
        raise NotImplementedError


@fault("server-second-opening-of-queue-returns-context-value-of-first", breaks="MQDMPR-3.1.7.1.5-122", blind=True)
class ServerSecondOpeningOfQueueReturnsContextValueOfFirst(DescriptorContextValueRepeater):
    """When a queue is opened a second time with the same access, the server returns the ContextValue of the first
    opening.
    """

    def is_context_value_repeated(self, descriptor: OpenQueueDescriptor, other: OpenQueueDescriptor) -> bool:
        return other.QueueReference is descriptor.QueueReference and other.AccessType is descriptor.AccessType


@fault("server-opening-of-other-queue-returns-context-value-of-first", breaks="MQDMPR-3.1.7.1.5-122", blind=True)
class ServerOpeningOfOtherQueueReturnsContextValueOfFirst(DescriptorContextValueRepeater):
    """When another queue is opened, the server returns the ContextValue of the first queue."""

    def is_context_value_repeated(self, descriptor: OpenQueueDescriptor, other: OpenQueueDescriptor) -> bool:
        return other.QueueReference is not descriptor.QueueReference and other.AccessType in READ_ACCESS_TYPES


@fault("server-opening-with-other-access-returns-context-value-of-first", breaks="MQDMPR-3.1.7.1.5-122", blind=True)
class ServerOpeningWithOtherAccessReturnsContextValueOfFirst(DescriptorContextValueRepeater):
    """When a queue is opened to receive and then to peek, the server returns the ContextValue of the first opening."""

    def is_context_value_repeated(self, descriptor: OpenQueueDescriptor, other: OpenQueueDescriptor) -> bool:
        return other.QueueReference is descriptor.QueueReference and other.AccessType is not descriptor.AccessType


class DescriptorRegistrationOmitter(SingleQueueDescriptorChanger):
    """Leave a new descriptor out of the collection of its queue."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        if descriptor.QueueReference is not None and self.is_descriptor_missing_in_queue(descriptor, earlier):
            del descriptor.QueueReference.OpenQueueDescriptorCollection[descriptor.Handle]
        return descriptor

    def is_descriptor_missing_in_queue(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        """Return whether the queue manager leaves the new descriptor out of the collection of its queue."""
        raise NotImplementedError


@fault("queue-manager-second-descriptor-not-added-to-queue", breaks="MQDMPR-3.1.7.1.5-123", blind=True)
class QueueManagerSecondDescriptorNotAddedToQueue(DescriptorRegistrationOmitter):
    """The queue manager does not add a second OpenQueueDescriptor to the opened queue."""

    def is_descriptor_missing_in_queue(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return bool(earlier)


@fault("queue-manager-peek-descriptor-not-added-to-queue", breaks="MQDMPR-3.1.7.1.5-123", blind=True)
class QueueManagerPeekDescriptorNotAddedToQueue(DescriptorRegistrationOmitter):
    """The queue manager does not add an OpenQueueDescriptor with PeekAccess to the opened queue."""

    def is_descriptor_missing_in_queue(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return descriptor.AccessType is PEEK_ACCESS


@fault("queue-manager-journal-descriptor-not-added-to-queue", breaks="MQDMPR-3.1.7.1.5-123", blind=True)
class QueueManagerJournalDescriptorNotAddedToQueue(DescriptorRegistrationOmitter):
    """The queue manager does not add an OpenQueueDescriptor to an opened journal or subqueue."""

    def is_descriptor_missing_in_queue(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> bool:
        return descriptor.QueueReference is not None and descriptor.QueueReference.parent is not None


@fault("queue-manager-opening-to-peek-returns-descriptor-of-receiver", breaks="MQDMPR-3.1.7.1.5-125", blind=True)
class QueueManagerOpeningToPeekReturnsDescriptorOfReceiver(SingleQueueDescriptorChanger):
    """When a queue is opened to peek, the queue manager returns the OpenQueueDescriptor of an earlier receiver."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        receivers = [one for one in earlier if one.AccessType is RECEIVE_ACCESS]
        return receivers[0] if receivers and descriptor.AccessType is PEEK_ACCESS else descriptor


@fault("queue-manager-second-open-returns-first-of-two-descriptors", breaks="MQDMPR-3.1.7.1.5-125", blind=True)
class QueueManagerSecondOpenReturnsFirstOfTwoDescriptors(SingleQueueDescriptorChanger):
    """When a queue is opened again, the queue manager creates an OpenQueueDescriptor, but returns the first one."""

    def change_descriptor(
        self, descriptor: OpenQueueDescriptor, earlier: list[OpenQueueDescriptor]
    ) -> OpenQueueDescriptor:
        same = [one for one in earlier if one.AccessType is descriptor.AccessType]
        return same[0] if same else descriptor


@fault("server-second-queue-returned-descriptor-of-first-queue", breaks="MQDMPR-3.1.7.1.5-125", blind=True)
class ServerSecondQueueReturnedDescriptorOfFirstQueue(QmcommMethods):
    """When a second queue is open, the server returns the OpenQueueDescriptor of the queue that was opened before."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        before = [one for one in self.qm.descriptors.values() if one.AccessType in READ_ACCESS_TYPES]
        status, descriptor = super().open_remote_queue(call, now)
        if descriptor is not None:
            other = [one for one in before if one.QueueReference not in (None, descriptor.QueueReference)]
            return status, other[-1] if other else descriptor
        return status, descriptor
