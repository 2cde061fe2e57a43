"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.surface.clock import Now

SHARED_HANDLE = 0x77


def _return_same_handle(**values: int) -> Install:
    """Build a fault in which the queue manager assigns the same handle and context value to all clients."""

    class OpenedWith(Qmcomm):
        def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
            return super().get_open_values(descriptor) | values

    return replace_part(OpenedWith)


add(
    "open-queue-descriptor-handle-reused",
    "MQDMPR-3.1.1.16-02",
    "All OpenQueueDescriptors have the same Handle.",
    _return_same_handle(phQueue=SHARED_HANDLE),
)
add(
    "open-queue-descriptor-context-reused",
    "MQDMPR-3.1.1.16-03",
    "All OpenQueueDescriptors have the same context value.",
    _return_same_handle(dwpQueue=SHARED_HANDLE, pdwContext=SHARED_HANDLE),
)


@fault("open-queue-descriptor-of-remote-queue-ready-before-first-read", breaks="MQDMPR-3.1.1.16-12")
class OpenQueueDescriptorOfRemoteQueueReadyBeforeFirstRead(Qmcomm):
    """The descriptor of a remote reader is ReadyForRead before the reader starts to read."""

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ
        return super().get_open_values(descriptor)


add(
    "open-queue-descriptor-of-remote-queue-stays-opened-during-read",
    "MQDMPR-3.1.1.16-14",
    "The descriptor with which a remote reader reads stays Opened.",
    skip(RemoteOpening.take_over_descriptor),
)


@fault("peek-access-opened-as-receive-access", breaks="MQDMPR-3.1.1.16-04")
class PeekAccessOpenedAsReceiveAccess(QueueOpening):
    """The queue manager opens a queue with ReceiveAccess although the reader requests PeekAccess."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> Opened:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is QueueAccessType.PEEK:
            descriptor.AccessType = QueueAccessType.RECEIVE
        return status, descriptor


@fault("open-queue-descriptor-of-one-queue-marked-multiple", breaks="MQDMPR-3.1.1.16-05")
class OpenQueueDescriptorOfOneQueueMarkedMultiple(QueueOpening):
    """The attribute Multiple of a single queue's descriptor is True."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> Opened:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is not QueueAccessType.SEND:
            descriptor.Multiple = True
        return status, descriptor


def _change_multiple_queue_descriptor(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Build a fault that changes each descriptor for several queues."""

    class Several(QueueOpening):
        def open_queue(
            self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
        ) -> Opened:
            status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
            if descriptor is not None and descriptor.Multiple:
                change(descriptor)
            return status, descriptor

    return replace_part(Several)


def _set_receive_access(several: OpenQueueDescriptor) -> None:
    several.AccessType = QueueAccessType.RECEIVE


def _set_remote_read_state(several: OpenQueueDescriptor) -> None:
    several.RemoteReadState = RemoteReadState.OPENED


def _set_first_queue_reference(several: OpenQueueDescriptor) -> None:
    several.QueueReference = several.OpenQueueDescriptorCollection[0].QueueReference


for _name, _rule, _says, _change in (
    (
        "descriptor-of-several-queues-receive-access",
        "MQDMPR-3.1.1.16-06",
        ("The descriptor of several queues has the AccessType ReceiveAccess."),
        _set_receive_access,
    ),
    (
        "descriptor-of-several-queues-remote-read-state",
        "MQDMPR-3.1.1.16-07",
        "The descriptor of several queues has the RemoteReadState Opened.",
        _set_remote_read_state,
    ),
    (
        "open-queue-descriptor-of-several-queues-has-queue-reference",
        "MQDMPR-3.1.1.16-08",
        ("The descriptor of several queues refers to the first queue in QueueReference."),
        _set_first_queue_reference,
    ),
):
    add(_name, _rule, _says, _change_multiple_queue_descriptor(_change))
