"""Faults that break the rules MQDMPR-3.1.7.1.3-02 to MQDMPR-3.1.7.1.3-D03."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.queue_names import parse_path
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.directory.enums import PrivacyLevel, QueueType, Scope
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.attributes import NULL_GUID, UNLIMITED_QUOTA_KB
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


@fault("new-queue-default-quota-is-8-megabytes", breaks="MQDMPR-3.1.7.1.3-02")
class NewQueueDefaultQuotaIs8Megabytes(QueueLifecycle):
    """If the creator of a queue supplies no Quota, the queue manager sets the Quota to 8 MB."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if queue.Quota == 0xFFFFFFFF:
            queue.Quota = 8_192


@fault("queue-manager-create-queue-default-journal-quota-equals-quota", breaks="MQDMPR-3.1.7.1.3-02")
class QueueManagerCreateQueueDefaultJournalQuotaEqualsQuota(QueueLifecycle):
    """If the creator of a queue supplies a Quota but no JournalQuota, the queue manager also uses the Quota as
    JournalQuota.
    """

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Quota != UNLIMITED_QUOTA_KB and queue.JournalQuota == UNLIMITED_QUOTA_KB:
            queue.JournalQuota = queue.Quota
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-create-queue-default-type-is-that-of-previous-queue", breaks="MQDMPR-3.1.7.1.3-02")
class QueueManagerCreateQueueDefaultTypeIsThatOfPreviousQueue(QueueLifecycle):
    """If the creator of a queue supplies no Type, the queue manager assigns the Type of the previously
    created queue.
    """

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        earlier = list(self.qm.adm.QueueCollection.values())
        if not queue.Type.int and earlier:
            queue.Type = earlier[-1].Type
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-create-queue-accepts-name-of-journal", breaks="MQDMPR-3.1.7.1.3-05")
class QueueManagerCreateQueueAcceptsNameOfJournal(QueueLifecycle):
    """The queue manager creates a queue although its path name denotes the journal of a queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        path = parse_path(queue.Pathname)
        if path is not None and path.journal:
            queue.Pathname = queue.Pathname.partition(";")[0] + "-journal"
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-create-queue-name-with-space-at-end-trimmed", breaks="MQDMPR-3.1.7.1.3-05")
class QueueManagerCreateQueueNameWithSpaceAtEndTrimmed(QueueLifecycle):
    """The queue manager creates a queue although the path name ends with a space, and removes the space."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Pathname = queue.Pathname.rstrip(" ")
        return super().create_without_directory(queue, utc_s)


@fault("invalid-path-name-with-second-subqueue-accepted", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class InvalidPathNameWithSecondSubqueueAccepted(QueueLifecycle):
    """The queue manager ignores everything after a second semicolon in a path name."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        name, semicolon, rest = queue.Pathname.partition(";")
        queue.Pathname = name + semicolon + rest.partition(";")[0]
        return super().create_without_directory(queue, utc_s)


@fault("invalid-path-name-cut-to-allowed-length", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class InvalidPathNameCutToAllowedLength(QueueLifecycle):
    """The queue manager cuts the name of a new queue to 124 characters instead of refusing a longer name."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        folder, separator, name = queue.Pathname.partition("\\")
        queue.Pathname = folder + separator + name[:124]
        return super().create_without_directory(queue, utc_s)


@fault(
    "queue-manager-new-queue-joins-queue-collection-only-after-restart",
    breaks=("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-D07"),
)
class QueueManagerNewQueueJoinsQueueCollectionOnlyAfterRestart(QueueLifecycle):
    """The queue manager returns a new queue to its creator, but adds the queue to the QueueCollection only at the next
    restart.
    """

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if self.qm.descriptors or queue.Journaling:
            self.forget(queue)


@fault("new-subqueue-with-journal", breaks="MQDMPR-3.1.7.1.3-07")
class NewSubqueueWithJournal(QueueLifecycle):
    """The queue manager creates a subqueue with a journal."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        queue.JournalQueueReference = Queue(Pathname=f"{queue.Pathname};journal", QueueType=QueueType.SYSTEM)


@fault("queue-manager-subqueue-of-journaling-queue-gets-own-journal", breaks="MQDMPR-3.1.7.1.3-07")
class QueueManagerSubqueueOfJournalingQueueGetsOwnJournal(QueueLifecycle):
    """The queue manager creates a separate journal for a subqueue of a queue with journaling."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        if parent.Journaling and parent.JournalQueueReference is not None:
            queue.JournalQueueReference = replace(parent.JournalQueueReference, Pathname=f"{queue.Pathname}-journal")


@fault("new-queue-without-journal", breaks="MQDMPR-3.1.7.1.3-09")
class NewQueueWithoutJournal(QueueLifecycle):
    """The queue manager creates a queue without a journal."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.JournalQueueReference = None


@fault("new-queues-share-journal", breaks=("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10"))
class NewQueuesShareJournal(QueueLifecycle):
    """The queue manager assigns the same journal to all new queues."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        kept = (one.JournalQueueReference for one in self.qm.adm.QueueCollection.values() if one.Journaling)
        if queue.Journaling:
            queue.JournalQueueReference = next(kept, queue.JournalQueueReference)


class _CreatedQueueChanger(QueueLifecycle):
    """Change each new queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None:
            self.change_created_queue(created)
        return status, created

    def change_created_queue(self, queue: Queue) -> None:
        """Change the new queue."""
        raise NotImplementedError


@fault("new-queues-with-same-label-share-journal", breaks="MQDMPR-3.1.7.1.3-09", blind=True)
class NewQueuesWithSameLabelShareJournal(_CreatedQueueChanger):
    """The queue manager assigns the same journal to all queues that are created with the same Label."""

    def change_created_queue(self, queue: Queue) -> None:
        for other in self.qm.adm.QueueCollection.values():
            if other is not queue and other.Label == queue.Label and queue.JournalQueueReference is not None:
                assert other.JournalQueueReference is not None
                queue.JournalQueueReference.MessagePositionList = other.JournalQueueReference.MessagePositionList
                return


@fault("public-queue-not-journaled", breaks="MQDMPR-3.1.7.1.3-10")
class PublicQueueNotJournaled(MessageJournaling):
    """The queue manager does not store received messages of a public queue in the journal of the queue."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if position.QueueReference.QueueType is not QueueType.PUBLIC:
            super().journal_received_message(position, reason)


@fault("queue-manager-create-queue-later-queue-shares-journal", breaks="MQDMPR-3.1.7.1.3-10")
class QueueManagerCreateQueueLaterQueueSharesJournal(QueueLifecycle):
    """The queue manager assigns the journal of an earlier queue with journaling to a new queue with journaling."""

    def add(self, queue: Queue) -> None:
        earlier = [one for one in self.qm.adm.QueueCollection.values() if one.Journaling]
        super().add(queue)
        if queue.Journaling and earlier:
            queue.JournalQueueReference = earlier[-1].JournalQueueReference


@fault("new-queue-privacy-level-always-optional", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class NewQueuePrivacyLevelAlwaysOptional(QueueLifecycle):
    """The queue manager sets PrivacyLevel of a new queue to Optional instead of the value that its creator supplies."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


@fault("new-queue-negative-base-priority-zeroed", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class NewQueueNegativeBasePriorityZeroed(QueueLifecycle):
    """If the creator of a queue supplies a negative BasePriority, the queue manager sets BasePriority to 0."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.BasePriority = max(queue.BasePriority, 0)


@fault("label-of-new-queue-is-cut-to-63-characters", breaks="MQDMPR-3.1.7.1.3-11")
class LabelOfNewQueueIsCutTo63Characters(QueueLifecycle):
    """The queue manager stores only the first 63 characters of a supplied label."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Label = queue.Label[:63]
        return super().create_without_directory(queue, utc_s)


@fault("new-queue-privacy-body-becomes-optional-with-authentication", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class NewQueuePrivacyBodyBecomesOptionalWithAuthentication(_CreatedQueueChanger):
    """The queue manager sets PrivacyLevel of a new queue with Authentication to Optional, and ignores the supplied
    value.
    """

    def change_created_queue(self, queue: Queue) -> None:
        if queue.Authentication:
            queue.PrivacyLevel = PrivacyLevel.OPTIONAL


@fault("new-queue-supplied-type-ignored-without-label", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class NewQueueSuppliedTypeIgnoredWithoutLabel(_CreatedQueueChanger):
    """The queue manager ignores the supplied Type of a new queue without a label."""

    def change_created_queue(self, queue: Queue) -> None:
        if not queue.Label:
            queue.Type = NULL_GUID


@fault("queue-manager-create-queue-label-cut-to-64-characters", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueLabelCutTo64Characters(QueueLifecycle):
    """The queue manager keeps only the first 64 characters of the Label of a new queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Label = queue.Label[:64]
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-create-queue-quota-cut-to-31-bits", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueQuotaCutTo31Bits(QueueLifecycle):
    """The queue manager keeps only the low 31 bits of the Quota of a new queue."""

    @faulty_only_if(lambda part, queue, utc_s: queue.Quota != UNLIMITED_QUOTA_KB)
    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Quota &= 0x7FFFFFFF
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-create-queue-negative-base-priority-is-zero", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueNegativeBasePriorityIsZero(QueueLifecycle):
    """If the creator of a new queue supplies a negative BasePriority, the queue manager sets BasePriority to 0."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.BasePriority = max(0, queue.BasePriority)
        return super().create_without_directory(queue, utc_s)


@fault("quota-of-new-queue-has-16-bits", breaks="MQDMPR-3.1.7.1.3-D01")
class QuotaOfNewQueueHas16Bits(QueueLifecycle):
    """The queue manager stores only the low 16 bits of a supplied quota."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Quota not in (None, 0xFFFFFFFF):
            queue.Quota = queue.Quota & 0xFFFF
        return super().create_without_directory(queue, utc_s)


@fault("negative-base-priority-of-new-queue-is-zero", breaks="MQDMPR-3.1.7.1.3-D01")
class NegativeBasePriorityOfNewQueueIsZero(QueueLifecycle):
    """If the creator of a queue supplies a negative BasePriority, the queue manager stores 0."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.BasePriority = max(queue.BasePriority, 0)
        return super().create_without_directory(queue, utc_s)


@fault("new-queue-label-cut-to-64-characters", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueLabelCutTo64Characters(_CreatedQueueChanger):
    """The queue manager stores only the first 64 characters of the label of a new queue."""

    def change_created_queue(self, queue: Queue) -> None:
        queue.Label = queue.Label[:64]


@fault("new-queue-quota-0-unlimited", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueQuota0Unlimited(_CreatedQueueChanger):
    """If the creator of a queue supplies the Quota 0, the queue manager applies no Quota to the queue."""

    def change_created_queue(self, queue: Queue) -> None:
        queue.Quota = queue.Quota or 0xFFFFFFFF


@fault("new-queue-journal-quota-cut-to-31-bits", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueJournalQuotaCutTo31Bits(_CreatedQueueChanger):
    """The queue manager stores only the low 31 bits of the JournalQuota of a new queue."""

    def change_created_queue(self, queue: Queue) -> None:
        if queue.JournalQuota != 0xFFFFFFFF:
            queue.JournalQuota &= 0x7FFFFFFF


@fault("new-queue-base-priority-above-255-zeroed", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewQueueBasePriorityAbove255Zeroed(_CreatedQueueChanger):
    """If the creator of a queue supplies a BasePriority above 255, the queue manager sets BasePriority to 0."""

    def change_created_queue(self, queue: Queue) -> None:
        if queue.BasePriority > 255:
            queue.BasePriority = 0


@fault("new-transactional-queue-without-authentication", breaks="MQDMPR-3.1.7.1.3-D01", blind=True)
class NewTransactionalQueueWithoutAuthentication(_CreatedQueueChanger):
    """The queue manager ignores the supplied Authentication and Journaling of a new transactional queue."""

    def change_created_queue(self, queue: Queue) -> None:
        if queue.Transactional:
            queue.Authentication = queue.Journaling = False


@fault("new-private-queue-has-scope-site", breaks="MQDMPR-3.1.7.1.3-D02")
class NewPrivateQueueHasScopeSite(QueueLifecycle):
    """The queue manager sets Scope of a new private queue to Site."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.Scope = Scope.SITE


@fault("new-queue-modify-time-is-zero", breaks="MQDMPR-3.1.7.1.3-D02")
class NewQueueModifyTimeIsZero(QueueLifecycle):
    """The queue manager sets ModifyTime of a new queue to 0."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.ModifyTime = 0


@fault("modify-time-of-new-queue-is-zero", breaks="MQDMPR-3.1.7.1.3-D02")
class ModifyTimeOfNewQueueIsZero(QueueLifecycle):
    """The queue manager leaves ModifyTime of a new queue at 0."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None:
            created.ModifyTime = 0
        return status, created


@fault("new-private-queue-has-public-format-name", breaks="MQDMPR-3.1.7.1.3-D03")
class NewPrivateQueueHasPublicFormatName(QueueCommands):
    """When a private queue is created, the queue manager returns a public format name."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        number = None if queue is None else queue.PrivateQueueNumber
        if queue is None or number is None:
            return super()._save_new_queue(name, token, status, queue)
        queue.PrivateQueueNumber = None
        try:
            return super()._save_new_queue(name, token, status, queue)
        finally:
            queue.PrivateQueueNumber = number


@fault("new-public-queue-has-private-format-name", breaks="MQDMPR-3.1.7.1.3-D03")
class NewPublicQueueHasPrivateFormatName(QueueCommands):
    """When a public queue is created, the queue manager also returns a private format name."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        if queue is None or queue.QueueType is not QueueType.PUBLIC:
            return super()._save_new_queue(name, token, status, queue)
        queue.PrivateQueueNumber = 0x7777
        try:
            return super()._save_new_queue(name, token, status, queue)
        finally:
            queue.PrivateQueueNumber = None


@fault("new-queue-with-upper-case-private-prefix-is-public", breaks="MQDMPR-3.1.7.1.3-D03", blind=True)
class NewQueueWithUpperCasePrivatePrefixIsPublic(_CreatedQueueChanger):
    """The queue manager creates a queue whose path name begins with PRIVATE$ in upper-case letters as a
    public queue.
    """

    def change_created_queue(self, queue: Queue) -> None:
        if queue.Pathname.startswith("PRIVATE$"):
            queue.QueueType = QueueType.PUBLIC


LONGEST_SUBQUEUE_NAME_LENGTH = 32


@fault("queue-manager-long-subqueue-name-shortened", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class QueueManagerLongSubqueueNameShortened(QueueLifecycle):
    """The queue manager shortens the name of a new subqueue to 32 characters instead of refusing it."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        base, semicolon, subqueue = queue.Pathname.partition(";")
        shortened = base + semicolon + subqueue[:LONGEST_SUBQUEUE_NAME_LENGTH]
        if parse_path(queue.Pathname) is None and semicolon and parse_path(shortened) is not None:
            queue.Pathname = shortened
        return super().create_without_directory(queue, utc_s)
