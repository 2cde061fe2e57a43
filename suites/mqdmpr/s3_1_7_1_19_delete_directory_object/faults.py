"""Faults that break rules of MS-MQDMPR 3.1.7.1.19 Delete Directory Object."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.directory_changes import (
    change_directory_answers,
    change_directory_notification,
    omit_directory_changes,
    replace_directory_status,
    stay_online_after_directory_change,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.events import DirectoryBecameUnreachable
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "queue-deletion-not-notified",
    "MQDMPR-3.1.7.1.19-03",
    "The queue manager raises no change notification when it deletes a public queue.",
    change_directory_notification(ChangeOperation.QUEUE_DELETION, None),
)


DirectoryAnswerCallback = Callable[[DirectoryAnswered], None]


@fault("queue-manager-failed-public-queue-deletion-raises-no-notification", breaks="MQDMPR-3.1.7.1.19-03", blind=True)
class QueueManagerFailedPublicQueueDeletionRaisesNoNotification(DirectoryLink):
    """When the directory does not carry out a deletion, the queue manager raises no change notification."""

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        def clear_deletion_failure(answer: DirectoryAnswered) -> None:
            raised = self.qm.enterprise.state.notifications
            failed = isinstance(change, DirectoryDeleteRequest) and answer.status is not Result.SUCCESS
            if failed and raised and raised[-1].iOperation is ChangeOperation.QUEUE_DELETION:
                raised.pop()
            answered(answer)

        super().write(change, clear_deletion_failure)


@fault("deletion-of-transactional-queue-raises-no-notification", breaks="MQDMPR-3.1.7.1.19-03")
class DeletionOfTransactionalQueueRaisesNoNotification(PublicQueuePublishing):
    """The queue manager raises no change notification when it deletes a transactional public queue."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        state = self.qm.enterprise.state
        sends_notifications = state.sends_notifications
        state.sends_notifications = sends_notifications and not queue.Transactional
        super().delete_published_queue(queue, withdrawn)
        state.sends_notifications = sends_notifications


add(
    "queue-deletion-notified-as-other-operation",
    "MQDMPR-3.1.7.1.19-04",
    "The queue manager raises a change notification about a deleted queue with an operation other than QueueDeletion.",
    change_directory_notification(ChangeOperation.QUEUE_DELETION, ChangeOperation.QUEUE_UPDATE),
)


add(
    "deleted-queue-directory-object-stays",
    "MQDMPR-3.1.7.1.19-07",
    "When a public queue is deleted, the queue manager leaves the queue's directory object.",
    omit_directory_changes(DirectoryDeleteRequest),
)


@fault("directory-object-of-deleted-transactional-queue-stays", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class DirectoryObjectOfDeletedTransactionalQueueStays(PublicQueuePublishing):
    """When a transactional public queue is deleted, the queue manager leaves the queue's directory object."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if queue.Transactional:
            withdrawn(Status.MQ_OK)
            return
        super().delete_published_queue(queue, withdrawn)


@fault("queue-manager-deletion-of-queue-deletes-object-of-other-queue", breaks="MQDMPR-3.1.7.1.19-07", blind=True)
class QueueManagerDeletionOfQueueDeletesObjectOfOtherQueue(PublicQueuePublishing):
    """When a public queue is deleted, the queue manager deletes the directory object of the public queue that was
    created first.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        super().delete_published_queue(self._list_public_queues()[0], withdrawn)


add(
    "failed-deletion-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.19-09",
    "When a deletion does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after_directory_change(DirectoryDeleteRequest),
)


@fault(
    "directory-online-timer-not-started",
    breaks=(
        "MQDMPR-3.1.7.1.18-D03",
        "MQDMPR-3.1.7.1.19-10",
        "MQDMPR-3.1.7.1.20-26",
        "MQDMPR-3.1.7.1.24-06",
        "MQDMPR-3.1.7.1.25-20",
    ),
)
class DirectoryOnlineTimerNotStarted(DirectoryClient):
    """The queue manager does not start the Directory Online Timer when it cannot reach the directory."""

    def start_online_timer_if_offline(self, now: Now) -> None:
        """Do not start the Directory Online Timer."""


@fault("queue-manager-failed-deletion-restarts-directory-online-timer", breaks="MQDMPR-3.1.7.1.19-10", blind=True)
class QueueManagerFailedDeletionRestartsDirectoryOnlineTimer(DirectoryLink):
    """When a deletion does not reach the directory, the queue manager restarts a Directory Online Timer that already
    runs.
    """

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        def restart_online_timer(answer: DirectoryAnswered) -> None:
            if isinstance(change, DirectoryDeleteRequest) and answer.status is Result.DIRECTORY_NOT_CONNECTED:
                self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_ONLINE, 0))
                self.qm.post_event(DirectoryBecameUnreachable())
            answered(answer)

        super().write(change, restart_online_timer)


class FailedDeletionRecorder(DirectoryLink):
    """Record in ``deletion_failed`` that a deletion did not reach the directory."""

    deletion_failed = False

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        def record_failed_deletion(answer: DirectoryAnswered) -> None:
            if isinstance(change, DirectoryDeleteRequest) and answer.status is Result.DIRECTORY_NOT_CONNECTED:
                self.deletion_failed = True
            answered(answer)

        super().write(change, record_failed_deletion)


class OnlineTimerStartOmitterAfterFailedDeletion(DirectoryClient):
    """The queue manager does not start the Directory Online Timer when a deletion has failed since DirectoryOffline
    became True.
    """

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.directory_link.deletion_failed = False  # type: ignore[attr-defined]
        if not self.qm.directory_link.deletion_failed:  # type: ignore[attr-defined]
            super().start_online_timer_if_offline(now)


add(
    "queue-manager-failed-deletion-online-timer-not-started",
    "MQDMPR-3.1.7.1.19-10",
    "The queue manager does not start the Directory Online Timer when a deletion does not reach the directory.",
    combine_installers(replace_part(FailedDeletionRecorder), replace_part(OnlineTimerStartOmitterAfterFailedDeletion)),
    blind=True,
)


add(
    "public-queue-deleted-without-directory",
    "MQDMPR-3.1.7.1.19-11",
    "The queue manager deletes a public queue although the directory cannot be reached.",
    change_directory_answers(
        DirectoryDeleteRequest, replace_directory_status(Result.DIRECTORY_NOT_CONNECTED, Result.OBJECT_NOT_FOUND)
    ),
)


@fault("queue-manager-deletion-without-directory-purges-queue", breaks="MQDMPR-3.1.7.1.19-11", blind=True)
class QueueManagerDeletionWithoutDirectoryPurgesQueue(PublicQueuePublishing):
    """While the directory is unavailable, the queue manager refuses to delete a public queue, but deletes the messages
    of the queue.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        def purge_after_failure(status: Status) -> None:
            if status is not Status.MQ_OK:
                for position in list(queue.MessagePositionList):
                    self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
            withdrawn(status)

        super().delete_published_queue(queue, purge_after_failure)


@fault("failed-deletion-of-second-queue-reported-as-done", breaks=("MQDMPR-3.1.7.1.19-11", "MQDMPR-3.1.7.1.19-13"))
class FailedDeletionOfSecondQueueReportedAsDone(PublicQueuePublishing):
    """When a second deletion does not reach the directory, the queue manager reports success."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        def report_success_after_failure(status: Status) -> None:
            failed_before, self.failed = getattr(self, "failed", False), status is not Status.MQ_OK
            withdrawn(Status.MQ_OK if failed_before else status)

        super().delete_published_queue(queue, report_success_after_failure)


add(
    "successful-directory-deletion-reported-as-failed",
    "MQDMPR-3.1.7.1.19-13",
    "The queue manager returns an error for a deletion that succeeded in the directory.",
    change_directory_answers(DirectoryDeleteRequest, replace_directory_status(Result.SUCCESS, Result.GENERIC_ERROR)),
)
