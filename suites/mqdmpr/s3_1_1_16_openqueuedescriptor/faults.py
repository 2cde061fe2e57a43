"""Faults that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.surface.clock import Now

HANDLE_RETURNED_TO_ALL_CLIENTS = 0x77


def _return_same_handle_to_all_clients(**values: int) -> Install:
    """Build a fault in which the queue manager assigns the same handle and context value to all clients."""

    class SameHandleOpener(QmcommMethods):
        def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
            return super().get_open_handle_values(descriptor) | values

    return replace_part(SameHandleOpener)


add(
    "open-queue-descriptor-handle-reused",
    "MQDMPR-3.1.1.16-02",
    "All OpenQueueDescriptors have the same Handle.",
    _return_same_handle_to_all_clients(phQueue=HANDLE_RETURNED_TO_ALL_CLIENTS),
)


@fault("open-queue-descriptor-of-remote-reader-has-handle-of-application", breaks="MQDMPR-3.1.1.16-02", blind=True)
class OpenQueueDescriptorOfRemoteReaderHasHandleOfApplication(QmcommMethods):
    """The queue manager assigns the Handle of the first open OpenQueueDescriptor of an application to the
    OpenQueueDescriptor of a remote reader.
    """

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        own = (one.Handle for one in self.qm.descriptors.values() if one.RemoteReadState is RemoteReadState.NONE)
        return super().get_open_handle_values(descriptor) | {"phQueue": next(own, descriptor.Handle)}


add(
    "open-queue-descriptor-context-reused",
    "MQDMPR-3.1.1.16-03",
    "All OpenQueueDescriptors have the same context value.",
    _return_same_handle_to_all_clients(
        dwpQueue=HANDLE_RETURNED_TO_ALL_CLIENTS, pdwContext=HANDLE_RETURNED_TO_ALL_CLIENTS
    ),
)


@fault("queue-manager-same-context-value-for-all-descriptors-of-queue", breaks="MQDMPR-3.1.1.16-03")
class QueueManagerSameContextValueForAllDescriptorsOfQueue(QmcommMethods):
    """The queue manager assigns the context value of the first OpenQueueDescriptor of a queue to all
    OpenQueueDescriptors of the queue.
    """

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        queue = descriptor.QueueReference
        first = descriptor if queue is None else next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().get_open_handle_values(descriptor) | {"dwpQueue": first.Handle}


@fault("open-queue-descriptor-repeats-context-value-of-peek-descriptor", breaks="MQDMPR-3.1.1.16-03", blind=True)
class OpenQueueDescriptorRepeatsContextValueOfPeekDescriptor(QmcommMethods):
    """An OpenQueueDescriptor has the context value of the OpenQueueDescriptor that was opened before it, if the earlier
    descriptor has PeekAccess.
    """

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        peeks = [one for one in self.qm.descriptors.values() if one.AccessType is QueueAccessType.PEEK]
        first = next((one for one in peeks if one is not descriptor), descriptor)
        return super().get_open_handle_values(descriptor) | {"dwpQueue": first.Handle}


@fault("peek-access-opened-as-receive-access", breaks="MQDMPR-3.1.1.16-04")
class PeekAccessOpenedAsReceiveAccess(QueueOpening):
    """The queue manager opens a queue with ReceiveAccess although the reader requests PeekAccess."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is QueueAccessType.PEEK:
            descriptor.AccessType = QueueAccessType.RECEIVE
        return status, descriptor


@fault("later-descriptor-of-open-queue-has-access-type-of-first", breaks="MQDMPR-3.1.1.16-04")
class LaterDescriptorOfOpenQueueHasAccessTypeOfFirst(QueueOpening):
    """While a queue is open, the queue manager opens the queue again with the AccessType of its first
    OpenQueueDescriptor.
    """

    def _add_descriptor(
        self, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
    ) -> OpenQueueDescriptor:
        added = super()._add_descriptor(queue, format_name, access, share)
        opened = [] if queue is None else list(queue.OpenQueueDescriptorCollection.values())
        if opened and access is not QueueAccessType.SEND:
            added.AccessType = opened[0].AccessType
        return added


@fault("second-descriptor-of-open-queue-has-access-type-of-first", breaks="MQDMPR-3.1.1.16-04")
class SecondDescriptorOfOpenQueueHasAccessTypeOfFirst(QueueOpening):
    """The OpenQueueDescriptor of a queue that is open already has the AccessType of the first opening."""

    def _add_descriptor(
        self, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
    ) -> OpenQueueDescriptor:
        descriptor = super()._add_descriptor(queue, format_name, access, share)
        for one in () if queue is None else queue.OpenQueueDescriptorCollection.values():
            descriptor.AccessType = one.AccessType
            break
        return descriptor


@fault("open-queue-descriptor-multiple-true-for-single-queue", breaks="MQDMPR-3.1.1.16-05")
class OpenQueueDescriptorMultipleTrueForSingleQueue(QueueOpening):
    """The attribute Multiple of a single queue's descriptor is True."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is not QueueAccessType.SEND:
            descriptor.Multiple = True
        return status, descriptor


def _change_descriptor_of_several_queues(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Build a fault that changes each descriptor for several queues."""

    class SeveralQueueDescriptorChanger(QueueOpening):
        def open_queue(
            self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
        ) -> OpenQueueResult:
            status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
            if descriptor is not None and descriptor.Multiple:
                change(descriptor)
            return status, descriptor

    return replace_part(SeveralQueueDescriptorChanger)


def _set_access_type_to_receive(several: OpenQueueDescriptor) -> None:
    several.AccessType = QueueAccessType.RECEIVE


def _set_wrong_remote_read_state(several: OpenQueueDescriptor) -> None:
    several.RemoteReadState = RemoteReadState.OPENED


def _set_queue_reference_to_first_queue(several: OpenQueueDescriptor) -> None:
    several.QueueReference = several.OpenQueueDescriptorCollection[0].QueueReference


for _name, _rule, _says, _change in (
    (
        "descriptor-of-several-queues-receive-access",
        "MQDMPR-3.1.1.16-06",
        ("The descriptor of several queues has the AccessType ReceiveAccess."),
        _set_access_type_to_receive,
    ),
    (
        "descriptor-of-several-queues-remote-read-state",
        "MQDMPR-3.1.1.16-07",
        "The descriptor of several queues has the RemoteReadState Opened.",
        _set_wrong_remote_read_state,
    ),
    (
        "open-queue-descriptor-of-several-queues-has-queue-reference",
        "MQDMPR-3.1.1.16-08",
        ("The descriptor of several queues refers to the first queue in QueueReference."),
        _set_queue_reference_to_first_queue,
    ),
):
    add(_name, _rule, _says, _change_descriptor_of_several_queues(_change))


@fault("open-queue-descriptor-of-remote-queue-ready-before-first-read", breaks="MQDMPR-3.1.1.16-12")
class OpenQueueDescriptorOfRemoteQueueReadyBeforeFirstRead(QmcommMethods):
    """The descriptor of a remote reader is ReadyForRead before the reader starts to read."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ
        return super().get_open_handle_values(descriptor)


@fault("queue-manager-read-start-makes-other-descriptors-ready-for-read", breaks="MQDMPR-3.1.1.16-12")
class QueueManagerReadStartMakesOtherDescriptorsReadyForRead(RemoteQueueOpening):
    """When a remote reader begins to read with one OpenQueueDescriptor, the RemoteReadState of every other
    OpenQueueDescriptor that is Opened becomes ReadyForRead.
    """

    def take_over_queue_descriptor(self, entry: object) -> None:
        super().take_over_queue_descriptor(entry)  # type: ignore[arg-type] # the entry is passed on
        for descriptor in self.qm.descriptors.values():
            if descriptor.RemoteReadState is RemoteReadState.OPENED:
                descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ


add(
    "open-queue-descriptor-of-remote-queue-stays-opened-during-read",
    "MQDMPR-3.1.1.16-14",
    "The descriptor with which a remote reader reads stays Opened.",
    omit_step(RemoteQueueOpening.take_over_queue_descriptor),
)


@fault("remote-read-state-of-descriptor-stays-opened-for-second-reader", breaks="MQDMPR-3.1.1.16-14")
class RemoteReadStateOfDescriptorStaysOpenedForSecondReader(RemoteQueueOpening):
    """The RemoteReadState of an OpenQueueDescriptor stays Opened while a different reader reads the queue."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        if descriptor is not None and queue is not None and len(queue.OpenQueueDescriptorCollection) > 1:
            descriptor.RemoteReadState = RemoteReadState.OPENED


@fault("queue-manager-second-descriptor-contains-first-descriptor", breaks="MQDMPR-3.1.1.16-05", blind=True)
class QueueManagerSecondDescriptorContainsFirstDescriptor(QueueOpening):
    """OpenQueueDescriptorCollection of the second descriptor of a queue contains the first descriptor."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        earlier = list(queue.OpenQueueDescriptorCollection.values())
        status, made = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if made is not None:
            made.OpenQueueDescriptorCollection.extend(earlier)
        return status, made


@fault("server-remote-read-state-of-second-descriptor-stays-opened", breaks="MQDMPR-3.1.1.16-14", blind=True)
class ServerRemoteReadStateOfSecondDescriptorStaysOpened(RemoteQueueOpening):
    """While one descriptor is ReadyForRead, the RemoteReadState of the next descriptor stays Opened."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        ready = any(one.RemoteReadState is RemoteReadState.READY_FOR_READ for one in self.qm.descriptors.values())
        if not ready:
            super().take_over_queue_descriptor(entry)


@fault("queue-manager-descriptor-of-several-queues-copies-read-state", breaks="MQDMPR-3.1.1.16-07", blind=True)
class QueueManagerDescriptorOfSeveralQueuesCopiesReadState(QueueOpening):
    """If a remote reader has one of several queues open, their common descriptor gets the RemoteReadState of that
    reader.
    """

    def _open_queues_of_multiple_element_name(
        self,
        name: MultipleElementName,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode,
        now: Now,
    ) -> OpenQueueResult:
        status, several = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        for single in several.OpenQueueDescriptorCollection if several is not None else []:
            queue = single.QueueReference
            for other in queue.OpenQueueDescriptorCollection.values() if queue is not None else []:
                if several is not None and other.RemoteReadState is not RemoteReadState.NONE:
                    several.RemoteReadState = other.RemoteReadState
        return status, several
