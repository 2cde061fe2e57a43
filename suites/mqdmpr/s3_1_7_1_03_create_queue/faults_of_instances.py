"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue with several queues, boundary values, and names that were used before."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import NULL_GUID
from reference_qm.model.statuses import Status


class _CreatedChanged(Queues):
    """Change each new queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_here(queue, utc_s)
        if created is not None:
            self.change_queue(created)
        return status, created

    def change_queue(self, queue: Queue) -> None:
        """Change the new queue."""
        raise NotImplementedError


@fault("new-queue-label-cut-to-64-characters", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueLabelCutTo64Characters(_CreatedChanged):
    """The queue manager stores only the first 64 characters of the label of a new queue."""

    def change_queue(self, queue: Queue) -> None:
        queue.Label = queue.Label[:64]


@fault("new-queue-quota-0-unlimited", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueQuota0Unlimited(_CreatedChanged):
    """If the creator of a queue supplies the Quota 0, the queue manager applies no Quota to the queue."""

    def change_queue(self, queue: Queue) -> None:
        queue.Quota = queue.Quota or 0xFFFFFFFF


@fault("new-queue-journal-quota-of-31-bits", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueJournalQuotaOf31Bits(_CreatedChanged):
    """The queue manager stores only the low 31 bits of the JournalQuota of a new queue."""

    def change_queue(self, queue: Queue) -> None:
        if queue.JournalQuota != 0xFFFFFFFF:
            queue.JournalQuota &= 0x7FFFFFFF


@fault("new-queue-base-priority-of-8-bits", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueBasePriorityOf8Bits(_CreatedChanged):
    """If the creator of a queue supplies a BasePriority above 255, the queue manager sets BasePriority to 0."""

    def change_queue(self, queue: Queue) -> None:
        if queue.BasePriority > 255:
            queue.BasePriority = 0


@fault("new-transactional-queue-without-authentication", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewTransactionalQueueWithoutAuthentication(_CreatedChanged):
    """The queue manager ignores the supplied Authentication and Journaling of a new transactional queue."""

    def change_queue(self, queue: Queue) -> None:
        if queue.Transactional:
            queue.Authentication = queue.Journaling = False


@fault("new-queue-privacy-body-becomes-optional-with-authentication", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class NewQueuePrivacyBodyBecomesOptionalWithAuthentication(_CreatedChanged):
    """The queue manager sets PrivacyLevel of a new queue with Authentication to Optional, and ignores the supplied
    value.
    """

    def change_queue(self, queue: Queue) -> None:
        if queue.Authentication:
            queue.PrivacyLevel = PrivacyLevel.OPTIONAL


@fault("new-queue-type-kept-only-with-label", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class NewQueueTypeKeptOnlyWithLabel(_CreatedChanged):
    """The queue manager ignores the supplied Type of a new queue without a label."""

    def change_queue(self, queue: Queue) -> None:
        if not queue.Label:
            queue.Type = NULL_GUID


@fault("any-new-queues-share-journal", breaks="MQDMPR-3.1.7.1.3-09", blind=True)
class AnyNewQueuesShareJournal(_CreatedChanged):
    """The queue manager assigns the same journal to all queues that are created with the same Label."""

    def change_queue(self, queue: Queue) -> None:
        for other in self.qm.adm.QueueCollection.values():
            if other is not queue and other.Label == queue.Label and queue.JournalQueueReference is not None:
                assert other.JournalQueueReference is not None
                queue.JournalQueueReference.MessagePositionList = other.JournalQueueReference.MessagePositionList
                return


@fault("new-queue-number-is-number-of-queues", breaks="MQDMPR-3.1.7.1.3-D04", blind=True)
class NewQueueNumberIsNumberOfQueues(Queues):
    """The queue manager assigns the number of existing queues plus 100 as the number of a new private queue."""

    def _next_number(self) -> int:
        super()._next_number()
        return len(self.qm.adm.QueueCollection) + 100


@fault("new-queue-name-of-100-characters-refused", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class NewQueueNameOf100CharactersRefused(Queues):
    """The queue manager refuses to create a queue whose name has more than 60 characters."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if len(queue.Pathname.partition("\\")[2].partition(";")[0]) > 60:
            return Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, None
        return super().create_here(queue, utc_s)


@fault("new-queue-refused-with-name-that-begins-like-other", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class NewQueueRefusedWithNameThatBeginsLikeOther(Queues):
    """The queue manager refuses to create a queue whose name is the beginning of another queue's name."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if any(one.startswith(queue.Pathname.lower()) for one in self.qm.adm.QueueCollection):
            return Status.MQ_ERROR_QUEUE_EXISTS, None
        return super().create_here(queue, utc_s)


@fault("private-queue-with-upper-case-folder-is-public", breaks="MQDMPR-3.1.7.1.3-D03", blind=True)
class PrivateQueueWithUpperCaseFolderIsPublic(_CreatedChanged):
    """The queue manager creates a queue whose path name begins with PRIVATE$ in upper-case letters as a
    public queue.
    """

    def change_queue(self, queue: Queue) -> None:
        if queue.Pathname.startswith("PRIVATE$"):
            queue.QueueType = QueueType.PUBLIC


@fault("any-public-queue-created-without-directory", breaks="MQDMPR-3.1.7.1.3-D06", blind=True)
class AnyPublicQueueCreatedWithoutDirectory(Publishing):
    """The queue manager creates a public queue although the directory is unavailable, and publishes it later."""

    def publish(self, queue: Queue, published: Any) -> None:
        def report(status: Status) -> None:
            published(Status.MQ_OK if status is Status.MQ_ERROR_NO_DS else status)

        super().publish(queue, report)


@fault("invalid-path-name-with-second-subqueue-accepted", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class InvalidPathNameWithSecondSubqueueAccepted(Queues):
    """The queue manager ignores everything after a second semicolon in a path name."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        name, semicolon, rest = queue.Pathname.partition(";")
        queue.Pathname = name + semicolon + rest.partition(";")[0]
        return super().create_here(queue, utc_s)


@fault("invalid-path-name-cut-to-allowed-length", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class InvalidPathNameCutToAllowedLength(Queues):
    """The queue manager cuts the name of a new queue to 124 characters instead of refusing a longer name."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        folder, separator, name = queue.Pathname.partition("\\")
        queue.Pathname = folder + separator + name[:124]
        return super().create_here(queue, utc_s)
