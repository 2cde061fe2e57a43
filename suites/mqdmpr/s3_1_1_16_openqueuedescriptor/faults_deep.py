"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor that only special cases reveal: several descriptors of one queue."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState


@fault("queue-manager-remote-read-state-of-other-descriptor-ready", breaks="MQDMPR-3.1.1.16-12")
class QueueManagerRemoteReadStateOfOtherDescriptorReady(RemoteOpening):
    """When a remote reader begins to read with one OpenQueueDescriptor, the RemoteReadState of every other
    OpenQueueDescriptor that is Opened becomes ReadyForRead.
    """

    def take_over_descriptor(self, entry: object) -> None:
        super().take_over_descriptor(entry)  # type: ignore[arg-type] # the entry is passed on
        for descriptor in self.qm.descriptors.values():
            if descriptor.RemoteReadState is RemoteReadState.OPENED:
                descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ


@fault("queue-manager-context-value-of-queue", breaks="MQDMPR-3.1.1.16-03")
class QueueManagerContextValueOfQueue(Qmcomm):
    """The queue manager assigns the context value of the first OpenQueueDescriptor of a queue to all
    OpenQueueDescriptors of the queue.
    """

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        queue = descriptor.QueueReference
        first = descriptor if queue is None else next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().get_open_values(descriptor) | {"dwpQueue": first.Handle}


@fault("open-queue-descriptor-handle-of-application-repeated", breaks="MQDMPR-3.1.1.16-02", blind=True)
class OpenQueueDescriptorHandleOfApplicationRepeated(Qmcomm):
    """The queue manager assigns the Handle of the first open OpenQueueDescriptor of an application to the
    OpenQueueDescriptor of a remote reader.
    """

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        own = (one.Handle for one in self.qm.descriptors.values() if one.RemoteReadState is RemoteReadState.NONE)
        return super().get_open_values(descriptor) | {"phQueue": next(own, descriptor.Handle)}


@fault("open-queue-descriptor-context-of-peeker-repeated", breaks="MQDMPR-3.1.1.16-03", blind=True)
class OpenQueueDescriptorContextOfPeekerRepeated(Qmcomm):
    """An OpenQueueDescriptor has the context value of the OpenQueueDescriptor that was opened before it, if the earlier
    descriptor has PeekAccess.
    """

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        peeks = [one for one in self.qm.descriptors.values() if one.AccessType is QueueAccessType.PEEK]
        first = next((one for one in peeks if one is not descriptor), descriptor)
        return super().get_open_values(descriptor) | {"dwpQueue": first.Handle}


@fault("descriptor-of-queue-opened-again-has-access-of-first", breaks="MQDMPR-3.1.1.16-04")
class DescriptorOfQueueOpenedAgainHasAccessOfFirst(QueueOpening):
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
