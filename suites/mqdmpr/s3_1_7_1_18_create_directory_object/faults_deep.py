"""Faults of MS-MQDMPR 3.1.7.1.18 Create Directory Object that only special cases reveal: single attributes, and kinds
of queues.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm import directory
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("directory-object-created-without-quotas", breaks="MQDMPR-3.1.7.1.18-D02")
class DirectoryObjectCreatedWithoutQuotas(Publishing):
    """The queue manager creates the directory object of a public queue without the Quota of the queue."""

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Quota=0xFFFFFFFF)


@fault("directory-object-of-transactional-queue-not-transactional", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectOfTransactionalQueueNotTransactional(Publishing):
    """The queue manager creates the directory object of a transactional public queue as that of a nontransactional
    queue.
    """

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Transactional=False)


@fault("directory-object-created-without-type", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectCreatedWithoutType(Publishing):
    """The queue manager creates the directory object of a public queue without the Type of the queue."""

    def _build_element(self, queue: Queue) -> Any:
        return replace(super()._build_element(queue), Type=directory.Queue().Type)


@fault("directory-object-created-with-optional-privacy", breaks="MQDMPR-3.1.7.1.18-D02", blind=True)
class DirectoryObjectCreatedWithOptionalPrivacy(Publishing):
    """The queue manager creates the directory object of a public queue without the queue's Authentication and
    PrivacyLevel.
    """

    def _build_element(self, queue: Queue) -> Any:
        fresh = directory.Queue()
        return replace(
            super()._build_element(queue), Authentication=fresh.Authentication, PrivacyLevel=fresh.PrivacyLevel
        )


@fault("public-queue-created-without-directory-at-second-attempt", breaks="MQDMPR-3.1.7.1.18-D03", blind=True)
class PublicQueueCreatedWithoutDirectoryAtSecondAttempt(Publishing):
    """If DirectoryOffline is already True, the creation of a public queue succeeds although the directory is
    unavailable.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        if self.qm.enterprise.state.DirectoryOffline:
            published(Status.MQ_OK)
            return
        super().publish(queue, published)


@fault("public-format-name-of-transactional-queue-has-other-guid", breaks="MQDMPR-3.1.7.1.18-D04", blind=True)
class PublicFormatNameOfTransactionalQueueHasOtherGuid(Publishing):
    """The public format name of a transactional queue contains a GUID other than the GUID of the queue's directory
    object.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        def change_identifier(status: Status) -> None:
            if queue.Transactional:
                queue.Identifier = UUID(int=queue.Identifier.int ^ 1)
            published(status)

        super().publish(queue, change_identifier)


@fault("second-created-public-queue-not-notified", breaks="MQDMPR-3.1.7.1.18-D01")
class SecondCreatedPublicQueueNotNotified(Publishing):
    """The queue manager raises no change notification when it creates a second public queue."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        state = self.qm.enterprise.state
        notifies = state.notifies
        state.notifies = notifies and not self._list_public_queues()
        super().publish(queue, published)
        state.notifies = notifies


@fault("created-public-queue-object-without-privacy", breaks="MQDMPR-3.1.7.1.18-D02")
class CreatedPublicQueueObjectWithoutPrivacy(Publishing):
    """The queue manager creates the directory object of a public queue with the default PrivacyLevel and
    Authentication.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        self.publishing = True
        super().publish(queue, published)
        self.publishing = False

    def _build_element(self, queue: Queue) -> directory.Queue:
        built = super()._build_element(queue)
        if not getattr(self, "publishing", False):
            return built
        default = directory.Queue()
        return replace(built, PrivacyLevel=default.PrivacyLevel, Authentication=default.Authentication)


@fault("created-public-queue-refused-by-directory-reported-as-created", breaks="MQDMPR-3.1.7.1.18-D04")
class CreatedPublicQueueRefusedByDirectoryReportedAsCreated(Publishing):
    """If the directory already contains an object with the path name of a new queue, the queue manager reports that it
    created the queue.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        super().publish(
            queue, lambda status: published(Status.MQ_OK if status is Status.MQ_ERROR_QUEUE_EXISTS else status)
        )
