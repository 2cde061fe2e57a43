"""Faults that break rules of MS-MQDMPR 3.1.7.1.18 Create Directory Object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.directory_changes import (
    HandleDirectoryAnswer,
    change_directory_answers,
    change_directory_notification,
    omit_directory_changes,
    stay_online_after_directory_change,
)
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm import directory
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change, Queue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryCreateRequest
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue as LocalQueue
from reference_qm.model.statuses import Status
from reference_qm.surface.inputs import DirectoryAnswered

IDENTIFIER_FROM_DIRECTORY_RULE = "MQDMPR-3.1.7.1.18-D02"


add(
    "public-queue-created-without-object",
    ("MQDMPR-3.1.7.1.18-02", IDENTIFIER_FROM_DIRECTORY_RULE),
    "The queue manager creates a public queue without a directory object.",
    omit_directory_changes(DirectoryCreateRequest),
)


add(
    "queue-creation-not-notified",
    "MQDMPR-3.1.7.1.18-D01",
    "The queue manager raises no change notification when it creates a public queue.",
    change_directory_notification(ChangeOperation.QUEUE_CREATION, None),
)


add(
    "queue-creation-notified-as-other-operation",
    "MQDMPR-3.1.7.1.18-D01",
    "The queue manager raises a change notification about a created queue with an operation other than QueueCreation.",
    change_directory_notification(ChangeOperation.QUEUE_CREATION, ChangeOperation.QUEUE_UPDATE),
)


@fault("creation-of-second-public-queue-raises-no-change-notification", breaks="MQDMPR-3.1.7.1.18-D01")
class CreationOfSecondPublicQueueRaisesNoChangeNotification(PublicQueuePublishing):
    """The queue manager raises no change notification when it creates a second public queue."""

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        state = self.qm.enterprise.state
        sends_notifications = state.sends_notifications
        state.sends_notifications = sends_notifications and not self._list_public_queues()
        super().publish(queue, published)
        state.sends_notifications = sends_notifications


@fault("directory-object-without-attributes", breaks=IDENTIFIER_FROM_DIRECTORY_RULE)
class DirectoryObjectWithoutAttributes(DirectoryLink):
    """The queue manager creates the directory object of a public queue with only the name of the queue."""

    def write(self, change: Change, answered: HandleDirectoryAnswer) -> None:
        if isinstance(change, DirectoryCreateRequest) and isinstance(change.element, Queue):
            change = DirectoryCreateRequest(Queue(Pathname=change.element.Pathname))
        super().write(change, answered)


@fault("directory-object-created-without-quotas", breaks="MQDMPR-3.1.7.1.18-D02")
class DirectoryObjectCreatedWithoutQuotas(PublicQueuePublishing):
    """The queue manager creates the directory object of a public queue without the Quota of the queue."""

    def _build_element(self, queue: LocalQueue) -> Any:
        return replace(super()._build_element(queue), Quota=0xFFFFFFFF)


@fault("directory-object-of-transactional-queue-not-transactional", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectOfTransactionalQueueNotTransactional(PublicQueuePublishing):
    """The queue manager creates the directory object of a transactional public queue as that of a nontransactional
    queue.
    """

    def _build_element(self, queue: LocalQueue) -> Any:
        return replace(super()._build_element(queue), Transactional=False)


@fault("directory-object-created-without-type", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectCreatedWithoutType(PublicQueuePublishing):
    """The queue manager creates the directory object of a public queue without the Type of the queue."""

    def _build_element(self, queue: LocalQueue) -> Any:
        return replace(super()._build_element(queue), Type=directory.Queue().Type)


@fault("directory-object-created-with-default-privacy-level", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectCreatedWithDefaultPrivacyLevel(PublicQueuePublishing):
    """The queue manager creates the directory object of a public queue without the queue's Authentication and
    PrivacyLevel.
    """

    def _build_element(self, queue: LocalQueue) -> Any:
        fresh = directory.Queue()
        return replace(
            super()._build_element(queue), Authentication=fresh.Authentication, PrivacyLevel=fresh.PrivacyLevel
        )


@fault("created-directory-object-has-default-privacy-level", breaks="MQDMPR-3.1.7.1.18-D02")
class CreatedDirectoryObjectHasDefaultPrivacyLevel(PublicQueuePublishing):
    """The queue manager creates the directory object of a public queue with the default PrivacyLevel and
    Authentication.
    """

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        self.publishing = True
        super().publish(queue, published)
        self.publishing = False

    def _build_element(self, queue: LocalQueue) -> directory.Queue:
        built = super()._build_element(queue)
        if not getattr(self, "publishing", False):
            return built
        default = directory.Queue()
        return replace(built, PrivacyLevel=default.PrivacyLevel, Authentication=default.Authentication)


add(
    "public-queue-created-without-directory",
    "MQDMPR-3.1.7.1.18-D03",
    "The queue manager creates a public queue although the directory cannot be reached.",
    change_directory_answers(
        DirectoryCreateRequest,
        lambda answer: (
            replace(answer, status=Result.SUCCESS, identifier=MADE_UP_GUID)
            if answer.status is Result.DIRECTORY_NOT_CONNECTED
            else answer
        ),
    ),
)


add(
    "failed-creation-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.18-D03",
    "When a creation does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after_directory_change(DirectoryCreateRequest),
)


@fault("public-queue-created-without-directory-at-second-attempt", breaks="MQDMPR-3.1.7.1.18-D03", blind=True)
class PublicQueueCreatedWithoutDirectoryAtSecondAttempt(PublicQueuePublishing):
    """If DirectoryOffline is already True, the creation of a public queue succeeds although the directory is
    unavailable.
    """

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        if self.qm.enterprise.state.DirectoryOffline:
            published(Status.MQ_OK)
            return
        super().publish(queue, published)


@fault("public-queue-identifier-not-from-directory", breaks="MQDMPR-3.1.7.1.18-D04")
class PublicQueueIdentifierNotFromDirectory(PublicQueuePublishing):
    """The queue manager assigns a generated GUID to a public queue instead of the GUID that the directory assigned."""

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        def restore_own_identifier(status: Status) -> None:
            queue.Identifier = MADE_UP_GUID
            published(status)

        super().publish(queue, restore_own_identifier)


@fault("public-format-name-of-transactional-queue-has-other-guid", breaks="MQDMPR-3.1.7.1.18-D04", blind=True)
class PublicFormatNameOfTransactionalQueueHasOtherGuid(PublicQueuePublishing):
    """The public format name of a transactional queue contains a GUID other than the GUID of the queue's directory
    object.
    """

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        def change_identifier(status: Status) -> None:
            if queue.Transactional:
                queue.Identifier = UUID(int=queue.Identifier.int ^ 1)
            published(status)

        super().publish(queue, change_identifier)


@fault("creation-of-queue-with-existing-path-name-reported-as-done", breaks="MQDMPR-3.1.7.1.18-D04")
class CreationOfQueueWithExistingPathNameReportedAsDone(PublicQueuePublishing):
    """If the directory already contains an object with the path name of a new queue, the queue manager reports that it
    created the queue.
    """

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        super().publish(
            queue, lambda status: published(Status.MQ_OK if status is Status.MQ_ERROR_QUEUE_EXISTS else status)
        )


@fault("queue-manager-failed-public-queue-creation-raises-no-notification", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerFailedPublicQueueCreationRaisesNoNotification(DirectoryLink):
    """The queue manager generates Send Change Notification for the creation of a public queue only after the
    directory has created the object.
    """

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        state = self.qm.enterprise.state
        early = [one for one in state.notifications if one.iDirectoryObject is change.element]
        if not (early and isinstance(change, DirectoryCreateRequest) and isinstance(change.element, directory.Queue)):
            super().write(change, answered)
            return
        state.notifications.remove(early[-1])

        def notify_after_success(answer: DirectoryAnswered) -> None:
            if answer.status is Result.SUCCESS:
                state.send_change_notification(ChangeOperation.QUEUE_CREATION, change.element)
            answered(answer)

        super().write(change, notify_after_success)


@fault("queue-manager-existing-directory-object-taken-as-created", breaks="MQDMPR-3.1.7.1.18-D04", blind=True)
class QueueManagerExistingDirectoryObjectTakenAsCreated(PublicQueuePublishing):
    """If the directory already has an object for a new public queue, the queue manager uses that object and reports
    success.
    """

    def publish(self, queue: LocalQueue, published: StatusCallback) -> None:
        def accept_existing_object(status: Status) -> None:
            exists = status is Status.MQ_ERROR_QUEUE_EXISTS and self.use_published_identifier(queue)
            published(Status.MQ_OK if exists else status)

        super().publish(queue, accept_existing_object)
