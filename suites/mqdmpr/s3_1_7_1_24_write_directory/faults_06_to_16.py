"""Faults that break the rules MQDMPR-3.1.7.1.24-06 to MQDMPR-3.1.7.1.24-16 for one object or for a later write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.directory.objects import Queue as DirectoryQueue
from reference_qm.directory.objects import QueueManager
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

DirectoryAnswerCallback = Callable[[DirectoryAnswered], None]
DIRECTORY_ONLINE_TIMER_KEY = TimerKey(TimerName.DIRECTORY_ONLINE, 0)


class _FailedWriteRecorder(DirectoryLink):
    """Record the writes that did not reach the directory."""

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        def record_failed_write(answer: DirectoryAnswered) -> None:
            if isinstance(change, DirectoryWriteRequest) and answer.status is Result.DIRECTORY_NOT_CONNECTED:
                self.__dict__.setdefault("failed_writes", []).append(change.element)
            answered(answer)

        super().write(change, record_failed_write)


def _omit_start_of_online_timer(is_meant: Callable[[list[Any]], bool]) -> Install:
    """Return an installer of a fault that does not start the Directory Online Timer after some failed writes."""

    class TimerNotStarted(DirectoryClient):
        def start_online_timer_if_offline(self, now: Now) -> None:
            failed = self.qm.directory_link.__dict__.get("failed_writes", [])
            if not (failed and is_meant(failed)):
                super().start_online_timer_if_offline(now)

    def install_recorder_and_timer_omission(faulty: Any) -> None:
        replace_part(_FailedWriteRecorder)(faulty)
        replace_part(TimerNotStarted)(faulty)

    return install_recorder_and_timer_omission


add(
    "queue-manager-failed-write-of-transactional-queue-starts-no-timer",
    "MQDMPR-3.1.7.1.24-06",
    "When the write of a transactional queue does not reach the directory, the queue manager does not start the"
    " Directory Online Timer.",
    _omit_start_of_online_timer(lambda failed: bool(failed[-1].Transactional)),
    blind=True,
)


add(
    "queue-manager-failed-write-starts-timer-in-first-outage-only",
    "MQDMPR-3.1.7.1.24-06",
    "The queue manager starts the Directory Online Timer only for the first write that does not reach the directory.",
    _omit_start_of_online_timer(lambda failed: len(failed) > 1),
    blind=True,
)


@fault("queue-manager-second-failed-write-stops-directory-online-timer", breaks="MQDMPR-3.1.7.1.24-06", blind=True)
class QueueManagerSecondFailedWriteStopsDirectoryOnlineTimer(DirectoryLink):
    """A second write that does not reach the directory stops the Directory Online Timer."""

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        running = self.qm.timers.is_running(DIRECTORY_ONLINE_TIMER_KEY)

        def stop_timer(answer: DirectoryAnswered) -> None:
            answered(answer)
            if (
                running
                and isinstance(change, DirectoryWriteRequest)
                and answer.status is Result.DIRECTORY_NOT_CONNECTED
            ):
                self.qm.timers.stop(DIRECTORY_ONLINE_TIMER_KEY)

        super().write(change, stop_timer)


class _UpdateNotificationChanger(PublicQueuePublishing):
    """Change the notifications about updated queues."""

    def change_update_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        """Return the notification that replaces a notification about an updated queue."""
        return made

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def change_notification(status: Status) -> None:
            made = self.qm.enterprise.state.notifications
            if status is Status.MQ_OK and made and made[-1].iOperation is ChangeOperation.QUEUE_UPDATE:
                made.append(self.change_update_notification(queue, made.pop()))
            written(status)

        super().write(queue, values, change_notification)


@fault("queue-manager-update-notification-names-first-public-queue", breaks="MQDMPR-3.1.7.1.24-12", blind=True)
class QueueManagerUpdateNotificationNamesFirstPublicQueue(_UpdateNotificationChanger):
    """The change notification about each updated queue contains the name of the first public queue."""

    def change_update_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        return replace(made, iDirectoryObject=self._build_element(self._list_public_queues()[0]))


@fault("queue-manager-update-of-transactional-queue-notified-as-creation", breaks="MQDMPR-3.1.7.1.24-12", blind=True)
class QueueManagerUpdateOfTransactionalQueueNotifiedAsCreation(_UpdateNotificationChanger):
    """The change notification about an updated transactional queue contains the operation QueueCreation."""

    def change_update_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        return replace(made, iOperation=ChangeOperation.QUEUE_CREATION) if queue.Transactional else made


@fault("queue-manager-second-update-of-queue-notified-as-creation", breaks="MQDMPR-3.1.7.1.24-12", blind=True)
class QueueManagerSecondUpdateOfQueueNotifiedAsCreation(_UpdateNotificationChanger):
    """The change notification about the second update of a queue contains the operation QueueCreation."""

    def change_update_notification(self, queue: Queue, made: ChangeNotification) -> ChangeNotification:
        updated = self.__dict__.setdefault("updated", set())
        again = queue.Pathname in updated
        updated.add(queue.Pathname)
        return replace(made, iOperation=ChangeOperation.QUEUE_CREATION) if again else made


def _change_notifications_about_own_object(
    is_meant: Callable[[QueueManager, int], bool], instead: ChangeOperation | None
) -> Install:
    """Return an installer of a fault that replaces or omits notifications about the queue manager's own object.
    ``is_meant`` is called with the written object and the number of earlier writes.
    """

    class OwnNotified(DirectoryLink):
        def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
            def change_notification(answer: DirectoryAnswered) -> None:
                made = self.qm.enterprise.state.notifications
                if made and made[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE:
                    written = self.__dict__.setdefault("written", [])
                    element = made[-1].iDirectoryObject
                    if isinstance(element, QueueManager) and is_meant(element, len(written)):
                        made.pop()
                        if instead is not None:
                            made.append(ChangeNotification(instead, element))
                    written.append(element)
                answered(answer)

            super().write(change, change_notification)

    return replace_part(OwnNotified)


add(
    "queue-manager-second-write-of-own-object-not-notified",
    "MQDMPR-3.1.7.1.24-15",
    "The queue manager raises no change notification when it writes its own object for the second time.",
    _change_notifications_about_own_object(lambda element, earlier: earlier > 0, None),
    blind=True,
)


add(
    "queue-manager-second-write-of-own-object-notified-as-queue-update",
    "MQDMPR-3.1.7.1.24-16",
    "The change notification about the second write of the queue manager's own object contains the operation"
    " QueueUpdate.",
    _change_notifications_about_own_object(lambda element, earlier: earlier > 0, ChangeOperation.QUEUE_UPDATE),
    blind=True,
)


@fault("queue-manager-own-object-notification-repeats-previous-operation", breaks="MQDMPR-3.1.7.1.24-16", blind=True)
class QueueManagerOwnObjectNotificationRepeatsPreviousOperation(DirectoryLink):
    """The change notification about the queue manager's own object has the operation of the previous notification."""

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        before = [one.iOperation for one in self.qm.enterprise.state.notifications][-1:]

        def repeat_earlier_operation(answer: DirectoryAnswered) -> None:
            made = self.qm.enterprise.state.notifications
            if before and made and made[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE:
                made.append(replace(made.pop(), iOperation=before[0]))
            answered(answer)

        super().write(change, repeat_earlier_operation)


@fault("queue-manager-no-own-object-notification-after-queue-notification", breaks="MQDMPR-3.1.7.1.24-15", blind=True)
class QueueManagerNoOwnObjectNotificationAfterQueueNotification(DirectoryLink):
    """The queue manager raises no change notification about its own object after a notification about a queue."""

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        before = [one.iDirectoryObject for one in self.qm.enterprise.state.notifications][-1:]

        def drop_notification(answer: DirectoryAnswered) -> None:
            made = self.qm.enterprise.state.notifications
            own = bool(made) and made[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE
            if own and before and isinstance(before[0], DirectoryQueue):
                made.pop()
            answered(answer)

        super().write(change, drop_notification)


@fault("queue-manager-refused-change-of-label-kept-locally", breaks="MQDMPR-3.1.7.1.24-07", blind=True)
class QueueManagerRefusedChangeOfLabelKeptLocally(PublicQueuePublishing):
    """While the directory is unavailable, the queue manager refuses to change the label of a public queue, but uses the
    new label.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def apply_refused_label(status: Status) -> None:
            if status is not Status.MQ_OK and "Label" in values:
                queue.Label = values["Label"]
            written(status)

        super().write(queue, values, apply_refused_label)


@fault("queue-manager-write-of-transactional-queue-reported-as-failed", breaks="MQDMPR-3.1.7.1.24-09", blind=True)
class QueueManagerWriteOfTransactionalQueueReportedAsFailed(PublicQueuePublishing):
    """When the queue manager writes a transactional queue to the directory, it returns an error although the directory
    carried out the write.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, values, lambda status: written(Status.MQ_ERROR_NO_DS if queue.Transactional else status))


@fault("queue-manager-second-failed-write-reported-as-done", breaks="MQDMPR-3.1.7.1.24-09", blind=True)
class QueueManagerSecondFailedWriteReportedAsDone(PublicQueuePublishing):
    """When the directory refuses a second write, the queue manager reports success."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def report_success_after_failure(status: Status) -> None:
            before = self.__dict__.get("failed", False)
            self.__dict__["failed"] = before or status is not Status.MQ_OK
            written(Status.MQ_OK if before else status)

        super().write(queue, values, report_success_after_failure)


@fault("queue-manager-update-of-transactional-queue-not-notified", breaks="MQDMPR-3.1.7.1.24-11", blind=True)
class QueueManagerUpdateOfTransactionalQueueNotNotified(PublicQueuePublishing):
    """The queue manager raises no change notification when it has written the object of a transactional queue."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def drop_notification(status: Status) -> None:
            made = self.qm.enterprise.state.notifications
            if queue.Transactional and made and made[-1].iOperation is ChangeOperation.QUEUE_UPDATE:
                made.pop()
            written(status)

        super().write(queue, values, drop_notification)
