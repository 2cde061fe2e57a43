"""Faults in which only some deletions of public queues raise a change notification, or reach the directory."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


class DeletionNotificationOmitter(PublicQueuePublishing):
    """A part of the queue manager that raises no change notification for the deletion of some public queues; a subclass
    selects which.
    """

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        raise NotImplementedError

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        state = self.qm.enterprise.state
        notifies = state.sends_notifications
        state.sends_notifications = notifies and not self.is_change_notification_omitted(queue)
        super().delete_published_queue(queue, withdrawn)
        state.sends_notifications = notifies


@fault("queue-manager-deletion-of-second-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.19-03", blind=True)
class QueueManagerDeletionOfSecondPublicQueueNotNotified(DeletionNotificationOmitter):
    """The queue manager raises a change notification only for the first public queue that it deletes."""

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return self.__dict__["count"] > 1


@fault("queue-manager-deletion-of-filled-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.19-03", blind=True)
class QueueManagerDeletionOfFilledPublicQueueNotNotified(DeletionNotificationOmitter):
    """The queue manager raises no change notification when it deletes a public queue that contains messages."""

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        return bool(len(queue.MessagePositionList))


class DirectoryObjectDeletionOmitter(PublicQueuePublishing):
    """A part of the queue manager that leaves the directory objects of some deleted queues; a subclass selects
    which.
    """

    def is_kept(self, queue: Queue) -> bool:
        raise NotImplementedError

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if self.is_kept(queue):
            withdrawn(Status.MQ_OK)
        else:
            super().delete_published_queue(queue, withdrawn)


@fault("queue-manager-directory-object-of-transactional-queue-kept", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class QueueManagerDirectoryObjectOfTransactionalQueueKept(DirectoryObjectDeletionOmitter):
    """The queue manager does not delete the directory object of a transactional public queue."""

    def is_kept(self, queue: Queue) -> bool:
        return queue.Transactional


@fault("queue-manager-directory-object-of-filled-queue-kept", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class QueueManagerDirectoryObjectOfFilledQueueKept(DirectoryObjectDeletionOmitter):
    """The queue manager does not delete the directory object of a public queue that contains messages."""

    def is_kept(self, queue: Queue) -> bool:
        return bool(len(queue.MessagePositionList))
