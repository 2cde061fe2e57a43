"""Faults that break rules of MS-MQDMPR 3.1.7.1.25 Check Directory Online."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import SHARED_ATTRIBUTES, Publishing


@fault("queue-manager-open-public-queue-not-read-again", breaks="MQDMPR-3.1.7.1.25-12", blind=True)
class QueueManagerOpenPublicQueueNotReadAgain(Publishing):
    """When the directory is available again, the queue manager does not read the object of a public queue that is
    open.
    """

    def update_public_queues(self) -> None:
        opened = [queue for queue in self._list_public_queues() if queue.OpenQueueDescriptorCollection]
        before = [{name: getattr(queue, name) for name in SHARED_ATTRIBUTES} for queue in opened]
        super().update_public_queues()
        for queue, values in zip(opened, before, strict=True):
            for name, value in values.items():
                setattr(queue, name, value)
