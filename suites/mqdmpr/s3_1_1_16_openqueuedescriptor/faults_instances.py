"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor in which only some descriptors are wrong."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState


class _NewDescriptorChanger(QueueOpening):
    """Change each new OpenQueueDescriptor after the queue manager has created it."""

    def change_descriptor(self, descriptor: OpenQueueDescriptor) -> None:
        """Change the attributes of a new OpenQueueDescriptor."""
        raise NotImplementedError

    def _add_descriptor(
        self, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
    ) -> OpenQueueDescriptor:
        descriptor: OpenQueueDescriptor = super()._add_descriptor(queue, format_name, access, share)
        self.change_descriptor(descriptor)
        return descriptor


@fault("third-descriptor-of-queue-has-handle-of-first-descriptor", breaks="MQDMPR-3.1.1.16-02", blind=True)
class ThirdDescriptorOfQueueHasHandleOfFirstDescriptor(_NewDescriptorChanger):
    """The third open descriptor of a queue has the Handle of the first one."""

    def change_descriptor(self, descriptor: OpenQueueDescriptor) -> None:
        queue = descriptor.QueueReference
        opened = [] if queue is None else list(queue.OpenQueueDescriptorCollection.values())
        if len(opened) == 2:
            self.qm.descriptors.pop(descriptor.Handle, None)
            descriptor.Handle = opened[0].Handle


@fault("descriptor-for-three-queues-has-peek-access", breaks="MQDMPR-3.1.1.16-06", blind=True)
class DescriptorForThreeQueuesHasPeekAccess(QueueOpening):
    """The descriptor for three or more queues has PeekAccess."""

    def _open_queues_of_multiple_element_name(self, *arguments: Any) -> OpenQueueResult:
        status, descriptor = super()._open_queues_of_multiple_element_name(*arguments)
        if descriptor is not None and len(descriptor.OpenQueueDescriptorCollection) > 2:
            descriptor.AccessType = QueueAccessType.PEEK
        return status, descriptor


@fault("descriptor-for-several-queues-refers-to-last-local-queue", breaks="MQDMPR-3.1.1.16-08", blind=True)
class DescriptorForSeveralQueuesRefersToLastLocalQueue(QueueOpening):
    """The descriptor for several queues has the QueueReference of its last local queue."""

    def _open_queues_of_multiple_element_name(self, *arguments: Any) -> OpenQueueResult:
        status, descriptor = super()._open_queues_of_multiple_element_name(*arguments)
        for one in [] if descriptor is None else descriptor.OpenQueueDescriptorCollection:
            if one.QueueReference in self.qm.adm.QueueCollection.values() and descriptor is not None:
                descriptor.QueueReference = one.QueueReference
        return status, descriptor


@fault("remote-read-state-of-second-remote-reader-stays-opened", breaks="MQDMPR-3.1.1.16-14", blind=True)
class RemoteReadStateOfSecondRemoteReaderStaysOpened(RemoteQueueOpening):
    """The descriptor of the second remote reader of a queue stays Opened while the reader reads."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.taken = 0

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        self.taken += 1
        super().take_over_queue_descriptor(entry)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if self.taken > 1 and descriptor is not None:
            descriptor.RemoteReadState = RemoteReadState.OPENED
