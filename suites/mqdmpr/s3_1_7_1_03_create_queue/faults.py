"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import PrivacyLevel, QueueType, Scope
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


@fault("new-queue-quota-8-mb-by-default", breaks="MQDMPR-3.1.7.1.3-02")
class NewQueueQuota8MbByDefault(Queues):
    """If the creator of a queue supplies no Quota, the queue manager sets the Quota to 8 MB."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if queue.Quota == 0xFFFFFFFF:
            queue.Quota = 8_192


@fault("new-queue-privacy-level-always-optional", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class NewQueuePrivacyLevelAlwaysOptional(Queues):
    """The queue manager sets PrivacyLevel of a new queue to Optional instead of the value that its creator supplies."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


@fault("new-queue-negative-base-priority-zeroed", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class NewQueueNegativeBasePriorityZeroed(Queues):
    """If the creator of a queue supplies a negative BasePriority, the queue manager sets BasePriority to 0."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.BasePriority = max(queue.BasePriority, 0)


@fault("new-queue-not-in-collection", breaks=("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-D07"))
class NewQueueNotInCollection(Queues):
    """The queue manager returns a new queue to its creator, but adds the queue to the QueueCollection only at the next
    restart.
    """

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if self.qm.descriptors or queue.Journaling:
            self.forget(queue)


@fault("new-queue-without-journal", breaks="MQDMPR-3.1.7.1.3-09")
class NewQueueWithoutJournal(Queues):
    """The queue manager creates a queue without a journal."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.JournalQueueReference = None


@fault("new-queues-share-journal", breaks=("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10"))
class NewQueuesShareJournal(Queues):
    """The queue manager assigns the same journal to all new queues."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        kept = (one.JournalQueueReference for one in self.qm.adm.QueueCollection.values() if one.Journaling)
        if queue.Journaling:
            queue.JournalQueueReference = next(kept, queue.JournalQueueReference)


@fault("new-subqueue-with-journal", breaks="MQDMPR-3.1.7.1.3-07")
class NewSubqueueWithJournal(Queues):
    """The queue manager creates a subqueue with a journal."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        queue.JournalQueueReference = Queue(Pathname=f"{queue.Pathname};journal", QueueType=QueueType.SYSTEM)


@fault("new-private-queue-scope-site", breaks="MQDMPR-3.1.7.1.3-D02")
class NewPrivateQueueScopeSite(Queues):
    """The queue manager sets Scope of a new private queue to Site."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.Scope = Scope.SITE


@fault("new-queue-modify-time-0", breaks="MQDMPR-3.1.7.1.3-D02")
class NewQueueModifyTime0(Queues):
    """The queue manager sets ModifyTime of a new queue to 0."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.ModifyTime = 0


@fault("new-private-queue-public-format-name", breaks="MQDMPR-3.1.7.1.3-D03")
class NewPrivateQueuePublicFormatName(QueueCommands):
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


@fault("new-public-queue-private-format-name", breaks="MQDMPR-3.1.7.1.3-D03")
class NewPublicQueuePrivateFormatName(QueueCommands):
    """When a public queue is created, the queue manager also returns a private format name."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        if queue is None or queue.QueueType is not QueueType.PUBLIC:
            return super()._save_new_queue(name, token, status, queue)
        queue.PrivateQueueNumber = 0x7777
        try:
            return super()._save_new_queue(name, token, status, queue)
        finally:
            queue.PrivateQueueNumber = None


@fault("new-public-queue-without-object", breaks="MQDMPR-3.1.7.1.3-D05")
class NewPublicQueueWithoutObject(Publishing):
    """The queue manager creates a public queue without an object in the directory."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        published(Status.MQ_OK)


@fault("new-public-queue-created-offline", breaks="MQDMPR-3.1.7.1.3-D06")
class NewPublicQueueCreatedOffline(Publishing):
    """The queue manager creates a public queue although the directory does not answer."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        super().publish(queue, lambda status: published(Status.MQ_OK))


@fault("public-queue-not-journaled", breaks="MQDMPR-3.1.7.1.3-10")
class PublicQueueNotJournaled(Journaling):
    """The queue manager does not store received messages of a public queue in the journal of the queue."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        if position.QueueReference.QueueType is not QueueType.PUBLIC:
            super().journal_received(position, reason)
