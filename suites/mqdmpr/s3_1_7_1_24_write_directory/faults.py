"""Faults that break rules of MS-MQDMPR 3.1.7.1.24 Write Directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.faults.directory_changes import (
    change_directory_answers,
    change_directory_notification,
    omit_directory_changes,
    replace_directory_status,
    stay_online_after_directory_change,
)
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.core.store.enterprise import DirectoryAnswerHandler
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "queue-change-not-written-to-directory",
    "MQDMPR-3.1.7.1.24-03",
    "The queue manager does not write changes of a public queue to the directory.",
    omit_directory_changes(DirectoryWriteRequest),
)


@fault("queue-manager-writes-only-first-changed-attribute-to-directory", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWritesOnlyFirstChangedAttributeToDirectory(PublicQueuePublishing):
    """The queue manager writes only the first of several changed attributes to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, dict(list(values.items())[:1]), written)


@fault("queue-manager-write-directory-base-priority-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWriteDirectoryBasePriorityOmitted(PublicQueuePublishing):
    """The queue manager does not write a changed BasePriority to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, {name: value for name, value in values.items() if name != "BasePriority"}, written)


@fault("queue-manager-write-directory-false-values-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWriteDirectoryFalseValuesOmitted(PublicQueuePublishing):
    """The queue manager does not write changed attributes whose value is zero, False or empty."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, {name: value for name, value in values.items() if value}, written)


@fault("queue-manager-write-directory-privacy-omitted", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class QueueManagerWriteDirectoryPrivacyOmitted(PublicQueuePublishing):
    """The queue manager does not write changes of Authentication, PrivacyLevel and JournalQuota to the directory
    object.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        omitted = ("Authentication", "PrivacyLevel", "JournalQuota")
        super().write(queue, {name: value for name, value in values.items() if name not in omitted}, written)


@fault("queue-manager-change-of-each-queue-written-to-object-of-first-queue", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class QueueManagerChangeOfEachQueueWrittenToObjectOfFirstQueue(PublicQueuePublishing):
    """The queue manager writes a change of a public queue to the directory object of the public queue that was created
    first.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(self._list_public_queues()[0], values, written)


@fault("empty-label-not-written-to-directory", breaks="MQDMPR-3.1.7.1.24-03")
class EmptyLabelNotWrittenToDirectory(PublicQueuePublishing):
    """The queue manager does not write an empty label to the directory object of a queue."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, {name: value for name, value in values.items() if value != ""}, written)


add(
    "failed-write-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.24-05",
    "When a write does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after_directory_change(DirectoryWriteRequest),
)


add(
    "public-queue-changed-without-directory",
    "MQDMPR-3.1.7.1.24-07",
    "The queue manager changes a public queue although the directory cannot be reached.",
    change_directory_answers(
        DirectoryWriteRequest, replace_directory_status(Result.DIRECTORY_NOT_CONNECTED, Result.SUCCESS)
    ),
)


@fault("queue-manager-quota-change-refused-without-directory-kept-locally", breaks="MQDMPR-3.1.7.1.24-07", blind=True)
class QueueManagerQuotaChangeRefusedWithoutDirectoryKeptLocally(PublicQueuePublishing):
    """While the directory is unavailable, the queue manager refuses to change the Quota of a public queue, but uses the
    new Quota.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def set_quota_after_failed_write(status: Status) -> None:
            if status is not Status.MQ_OK and "Quota" in values:
                queue.Quota = values["Quota"]
            written(status)

        super().write(queue, values, set_quota_after_failed_write)


add(
    "successful-directory-write-reported-as-failed",
    "MQDMPR-3.1.7.1.24-09",
    "The queue manager returns an error for a write that succeeded in the directory.",
    change_directory_answers(DirectoryWriteRequest, replace_directory_status(Result.SUCCESS, Result.GENERIC_ERROR)),
)


@fault("write-of-missing-directory-object-reported-as-done", breaks="MQDMPR-3.1.7.1.24-09")
class WriteOfMissingDirectoryObjectReportedAsDone(PublicQueuePublishing):
    """When the directory does not contain the object of a queue, the queue manager reports that it wrote the object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(
            queue, values, lambda status: written(Status.MQ_OK if status is Status.MQ_ERROR_QUEUE_NOT_FOUND else status)
        )


add(
    "queue-update-not-notified",
    "MQDMPR-3.1.7.1.24-11",
    "The queue manager raises no change notification when it writes a public queue.",
    change_directory_notification(ChangeOperation.QUEUE_UPDATE, None),
)


@fault("queue-manager-second-write-of-queue-object-raises-no-notification", breaks="MQDMPR-3.1.7.1.24-11", blind=True)
class QueueManagerSecondWriteOfQueueObjectRaisesNoNotification(PublicQueuePublishing):
    """The queue manager raises no change notification when it writes the object of a public queue for the second time
    or later.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def remove_repeated_notification(status: Status) -> None:
            updates = [
                one
                for one in self.qm.enterprise.state.notifications
                if one.iOperation is ChangeOperation.QUEUE_UPDATE
                and one.iDirectoryObject.Identifier == queue.Identifier
            ]
            if status is Status.MQ_OK and len(updates) > 1:
                self.qm.enterprise.state.notifications.remove(updates[-1])
            written(status)

        super().write(queue, values, remove_repeated_notification)


add(
    "queue-update-notified-as-other-operation",
    "MQDMPR-3.1.7.1.24-12",
    "The queue manager raises the change notification about a changed queue with an operation other than QueueUpdate.",
    change_directory_notification(ChangeOperation.QUEUE_UPDATE, ChangeOperation.QUEUE_CREATION),
)


def _change_notification_about_own_object(instead: ChangeOperation | None) -> Install:
    """Build a fault that changes or drops the change notification about the queue manager's own object."""

    class OwnNotificationChanger(DirectoryClient):
        def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
            super().on_directory_answered(event, now)
            made = self.qm.enterprise.state.notifications
            if made and made[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE:
                last = made.pop()
                if instead is not None:
                    made.append(ChangeNotification(instead, last.iDirectoryObject))

    return replace_part(OwnNotificationChanger)


add(
    "change-of-own-object-not-notified",
    "MQDMPR-3.1.7.1.24-15",
    "The queue manager raises no change notification when it writes its own object.",
    _change_notification_about_own_object(None),
)


add(
    "change-of-own-object-notified-as-queue-change",
    "MQDMPR-3.1.7.1.24-16",
    "The queue manager raises the change notification about its own changed object with the operation QueueUpdate.",
    _change_notification_about_own_object(ChangeOperation.QUEUE_UPDATE),
)


@fault("queue-manager-stays-online-after-failed-write-in-second-outage", breaks="MQDMPR-3.1.7.1.24-05", blind=True)
class QueueManagerStaysOnlineAfterFailedWriteInSecondOutage(DirectoryLink):
    """After the directory has been unavailable and available again, a write that cannot reach the directory leaves
    DirectoryOffline False.
    """

    def read(self, answered: DirectoryAnswerHandler) -> None:
        def record_end_of_outage(answer: DirectoryAnswered, now: Now) -> None:
            was_offline = self.qm.enterprise.state.DirectoryOffline
            answered(answer, now)
            if was_offline and not self.qm.enterprise.state.DirectoryOffline:
                self.__dict__["recovered"] = True

        super().read(record_end_of_outage)

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        def clear_directory_offline(answer: DirectoryAnswered) -> None:
            lost = answer.status is Result.DIRECTORY_NOT_CONNECTED
            if lost and isinstance(change, DirectoryWriteRequest) and self.__dict__.get("recovered"):
                self.qm.enterprise.state.DirectoryOffline = False
            answered(answer)

        super().write(change, clear_directory_offline)
