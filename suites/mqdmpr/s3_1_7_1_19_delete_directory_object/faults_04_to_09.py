"""Faults that break the rules MQDMPR-3.1.7.1.19-04 and MQDMPR-3.1.7.1.19-09 for one queue or in a later outage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.surface.inputs import DirectoryAnswered


class _DeletionNotificationChanger(PublicQueuePublishing):
    """Change the notifications about deleted queues."""

    def change_deletion_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        """Return the notification that replaces a notification about a deleted queue."""
        return made

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        super().delete_published_queue(queue, withdrawn)
        made = self.qm.enterprise.state.notifications
        if made and made[-1].iOperation is ChangeOperation.QUEUE_DELETION:
            made.append(self.change_deletion_notification(queue, made.pop()))


@fault("queue-manager-deletion-notification-names-first-public-queue", breaks="MQDMPR-3.1.7.1.19-04", blind=True)
class QueueManagerDeletionNotificationNamesFirstPublicQueue(_DeletionNotificationChanger):
    """The change notification about each deleted queue contains the name of the first public queue."""

    def change_deletion_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        return replace(made, iDirectoryObject=self._build_element(self._list_public_queues()[0]))


@fault("queue-manager-deletion-of-transactional-queue-notified-as-update", breaks="MQDMPR-3.1.7.1.19-04", blind=True)
class QueueManagerDeletionOfTransactionalQueueNotifiedAsUpdate(_DeletionNotificationChanger):
    """The change notification about a deleted transactional queue contains the operation QueueUpdate."""

    def change_deletion_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        return replace(made, iOperation=ChangeOperation.QUEUE_UPDATE) if queue.Transactional else made


@fault("queue-manager-deletion-of-queue-with-messages-notified-as-update", breaks="MQDMPR-3.1.7.1.19-04", blind=True)
class QueueManagerDeletionOfQueueWithMessagesNotifiedAsUpdate(_DeletionNotificationChanger):
    """The change notification about a deleted queue that contains messages contains the operation QueueUpdate."""

    def change_deletion_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        return replace(made, iOperation=ChangeOperation.QUEUE_UPDATE) if len(queue.MessagePositionList) else made


class _DirectoryOfflineFalseKeeper(DirectoryLink):
    """Leave DirectoryOffline False after some deletions that do not reach the directory; a subclass selects which."""

    def is_directory_offline_kept_false(self, change: DirectoryDeleteRequest) -> bool:
        """Return whether DirectoryOffline stays False."""
        return False

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        before = self.qm.enterprise.state.DirectoryOffline

        def keep_directory_offline_false(answer: DirectoryAnswered) -> None:
            failed = isinstance(change, DirectoryDeleteRequest) and answer.status is Result.DIRECTORY_NOT_CONNECTED
            if (
                failed
                and not before
                and isinstance(change, DirectoryDeleteRequest)
                and self.is_directory_offline_kept_false(change)
            ):
                self.qm.enterprise.state.DirectoryOffline = False
            answered(answer)

        super().write(change, keep_directory_offline_false)


@fault("queue-manager-stays-online-after-failed-deletion-in-second-outage", breaks="MQDMPR-3.1.7.1.19-09", blind=True)
class QueueManagerStaysOnlineAfterFailedDeletionInSecondOutage(_DirectoryOfflineFalseKeeper):
    """When a deletion does not reach the directory in a second outage, DirectoryOffline stays False."""

    def is_directory_offline_kept_false(self, change: DirectoryDeleteRequest) -> bool:
        self.__dict__["outages"] = self.__dict__.get("outages", 0) + 1
        return int(self.__dict__["outages"]) > 1


@fault("queue-manager-online-after-failed-deletion-of-transactional-queue", breaks="MQDMPR-3.1.7.1.19-09", blind=True)
class QueueManagerOnlineAfterFailedDeletionOfTransactionalQueue(_DirectoryOfflineFalseKeeper):
    """When the deletion of a transactional queue does not reach the directory, DirectoryOffline stays False."""

    def is_directory_offline_kept_false(self, change: DirectoryDeleteRequest) -> bool:
        return bool(getattr(change.element, "Transactional", False))


@fault("queue-manager-online-after-failed-deletion-of-labeled-queue", breaks="MQDMPR-3.1.7.1.19-09", blind=True)
class QueueManagerOnlineAfterFailedDeletionOfLabeledQueue(_DirectoryOfflineFalseKeeper):
    """When the deletion of a queue with a label does not reach the directory, DirectoryOffline stays False."""

    def is_directory_offline_kept_false(self, change: DirectoryDeleteRequest) -> bool:
        return bool(getattr(change.element, "Label", ""))
