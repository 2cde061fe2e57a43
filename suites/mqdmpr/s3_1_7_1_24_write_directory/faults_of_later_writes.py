"""Faults of writes without a connection to the directory, and of the notifications of later writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-failed-write-changes-queue", breaks="MQDMPR-3.1.7.1.24-07", blind=True)
class QueueManagerFailedWriteChangesQueue(PublicQueuePublishing):
    """If the write of a directory object fails, the queue manager returns an error, but changes the attributes of the
    queue.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def change_queue_despite_failed_write(status: Status) -> None:
            if status is not Status.MQ_OK:
                for name, value in values.items():
                    setattr(queue, name, value)
            written(status)

        super().write(queue, values, change_queue_despite_failed_write)


@fault("queue-manager-write-while-directory-offline-succeeds", breaks="MQDMPR-3.1.7.1.24-07", blind=True)
class QueueManagerWriteWhileDirectoryOfflineSucceeds(PublicQueuePublishing):
    """While DirectoryOffline is True, the write of a directory object succeeds at once."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        if self.qm.enterprise.state.DirectoryOffline:
            written(Status.MQ_OK)
        else:
            super().write(queue, values, written)


class WriteNotificationOmitter(PublicQueuePublishing):
    """A part of the queue manager that raises no change notification for some writes; a subclass selects which."""

    def is_change_notification_omitted(self, queue: Queue, values: Mapping[str, Any]) -> bool:
        raise NotImplementedError

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        silent = self.is_change_notification_omitted(queue, values)

        def drop_notification(status: Status) -> None:
            raised = self.qm.enterprise.state.notifications
            if silent and raised and raised[-1].iOperation is ChangeOperation.QUEUE_UPDATE:
                raised.pop()
            written(status)

        super().write(queue, values, drop_notification)


@fault("queue-manager-write-of-second-queue-not-notified", breaks="MQDMPR-3.1.7.1.24-11", blind=True)
class QueueManagerWriteOfSecondQueueNotNotified(WriteNotificationOmitter):
    """The queue manager raises change notifications only for writes of the public queue that is written first."""

    def is_change_notification_omitted(self, queue: Queue, values: Mapping[str, Any]) -> bool:
        return self.__dict__.setdefault("first", queue.Identifier) != queue.Identifier


@fault("queue-manager-write-without-label-not-notified", breaks="MQDMPR-3.1.7.1.24-11", blind=True)
class QueueManagerWriteWithoutLabelNotNotified(WriteNotificationOmitter):
    """The queue manager raises a change notification only if the Label of a public queue is written."""

    def is_change_notification_omitted(self, queue: Queue, values: Mapping[str, Any]) -> bool:
        return "Label" not in values
