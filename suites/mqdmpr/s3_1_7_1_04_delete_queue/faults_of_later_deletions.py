"""Faults in which the deletion of a public queue hides an error of the directory (MQDMPR-3.1.7.1.4-16)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-second-deletion-of-public-queue-succeeds", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class QueueManagerSecondDeletionOfPublicQueueSucceeds(PublicQueuePublishing):
    """The second attempt to delete a public queue succeeds, although the directory does not delete the object."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        tried = self.__dict__.setdefault("tried", set())
        again = queue.Identifier in tried
        tried.add(queue.Identifier)
        super().delete_published_queue(queue, lambda status: withdrawn(Status.MQ_OK if again else status))


@fault("queue-manager-deletion-while-directory-offline-succeeds", breaks="MQDMPR-3.1.7.1.4-16", blind=True)
class QueueManagerDeletionWhileDirectoryOfflineSucceeds(PublicQueuePublishing):
    """While DirectoryOffline is True, the deletion of a public queue succeeds."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        offline = self.qm.enterprise.state.DirectoryOffline
        super().delete_published_queue(queue, lambda status: withdrawn(Status.MQ_OK if offline else status))
