"""Faults in which only some creations of public queues raise a change notification (MQDMPR-3.1.7.1.18-D01)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.model.adm import Queue


class CreationNotificationOmitter(PublicQueuePublishing):
    """A part of the queue manager that raises no change notification for the creation of some public queues; a subclass
    selects which.
    """

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        raise NotImplementedError

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        state = self.qm.enterprise.state
        notifies = state.sends_notifications
        state.sends_notifications = notifies and not self.is_change_notification_omitted(queue)
        super().publish(queue, published)
        state.sends_notifications = notifies


@fault("queue-manager-creation-of-second-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.18-D01", blind=True)
class QueueManagerCreationOfSecondPublicQueueNotNotified(CreationNotificationOmitter):
    """The queue manager raises a change notification only for the first public queue that it creates."""

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return self.__dict__["count"] > 1


@fault("queue-manager-creation-of-transactional-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.18-D01", blind=True)
class QueueManagerCreationOfTransactionalPublicQueueNotNotified(CreationNotificationOmitter):
    """The queue manager raises no change notification when it creates a transactional public queue."""

    def is_change_notification_omitted(self, queue: Queue) -> bool:
        return queue.Transactional
