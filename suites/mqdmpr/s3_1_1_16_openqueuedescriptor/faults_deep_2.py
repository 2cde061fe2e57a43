"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor with several descriptors of one queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState


@fault("descriptor-of-second-opening-access-type-of-first", breaks="MQDMPR-3.1.1.16-04")
class DescriptorOfSecondOpeningAccessTypeOfFirst(QueueOpening):
    """The OpenQueueDescriptor of a queue that is open already has the AccessType of the first opening."""

    def _add_descriptor(
        self, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
    ) -> OpenQueueDescriptor:
        descriptor = super()._add_descriptor(queue, format_name, access, share)
        for one in () if queue is None else queue.OpenQueueDescriptorCollection.values():
            descriptor.AccessType = one.AccessType
            break
        return descriptor


@fault("descriptor-of-second-reader-remote-read-state-opened", breaks="MQDMPR-3.1.1.16-14")
class DescriptorOfSecondReaderRemoteReadStateOpened(RemoteOpening):
    """The RemoteReadState of an OpenQueueDescriptor stays Opened while a different reader reads the queue."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        if descriptor is not None and queue is not None and len(queue.OpenQueueDescriptorCollection) > 1:
            descriptor.RemoteReadState = RemoteReadState.OPENED
