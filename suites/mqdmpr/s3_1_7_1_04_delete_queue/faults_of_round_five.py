"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import Queue


@fault("queue-manager-handle-of-deleted-queue-refers-to-successor", breaks="MQDMPR-3.1.7.1.4-10", blind=True)
class QueueManagerHandleOfDeletedQueueRefersToSuccessor(QueueLifecycle):
    """An open handle of a deleted queue refers to a new queue with the same path name, so that reads with the handle
    succeed again.
    """

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for descriptor in self.qm.descriptors.values():
            if (
                descriptor.QueueReference is None
                and not descriptor.Multiple
                and descriptor.FormatName.lower().endswith(queue.Pathname.lower())
            ):
                descriptor.QueueReference = queue
                queue.OpenQueueDescriptorCollection[descriptor.Handle] = descriptor
