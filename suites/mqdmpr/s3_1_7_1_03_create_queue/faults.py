"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import PrivacyLevel, QueueType, Scope
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


@fault("create-quota-of-its-own", breaks="MQDMPR-3.1.7.1.3-02")
class QuotaOfItsOwn(Queues):
    """A queue without a quota gets one of 8 MB."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if queue.Quota == 0xFFFFFFFF:
            queue.Quota = 8_192


@fault("create-private-body-optional", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class PrivateBodyOptional(Queues):
    """PrivacyLevel of a new queue is Optional, whatever was given."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


@fault("create-base-priority-unsigned", breaks=("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.7.1.3-D01"))
class BasePriorityUnsigned(Queues):
    """A base priority below 0 is taken for 0."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.BasePriority = max(queue.BasePriority, 0)


@fault("create-not-in-collection", breaks=("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-D07"))
class NotInCollection(Queues):
    """A new queue is given to who asked for it, and is not among the queues until the next start."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if self.qm.descriptors or queue.Journaling:
            self.forget(queue)


@fault("create-without-journal", breaks="MQDMPR-3.1.7.1.3-09")
class WithoutJournal(Queues):
    """A new queue has no journal."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.JournalQueueReference = None


@fault("create-one-journal-for-all", breaks=("MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.7.1.3-10"))
class OneJournalForAll(Queues):
    """The queues whose messages are kept have one journal together."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        kept = (one.JournalQueueReference for one in self.qm.adm.QueueCollection.values() if one.Journaling)
        if queue.Journaling:
            queue.JournalQueueReference = next(kept, queue.JournalQueueReference)


@fault("create-subqueue-with-journal", breaks="MQDMPR-3.1.7.1.3-07")
class SubqueueWithJournal(Queues):
    """A subqueue has a journal, too."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        queue.JournalQueueReference = Queue(Pathname=f"{queue.Pathname};journal", QueueType=QueueType.SYSTEM)


@fault("create-local-scope", breaks="MQDMPR-3.1.7.1.3-D02")
class LocalScope(Queues):
    """Scope of a private queue is Site."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.Scope = Scope.SITE


@fault("create-time-of-change-left", breaks="MQDMPR-3.1.7.1.3-D02")
class TimeOfChangeLeft(Queues):
    """ModifyTime is 0 until a queue is changed."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        queue.ModifyTime = 0


@fault("create-private-as-public", breaks="MQDMPR-3.1.7.1.3-D03")
class PrivateAsPublic(QueueCommands):
    """A private queue is told of by a public format name."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        number = None if queue is None else queue.PrivateQueueNumber
        if queue is None or number is None:
            return super()._save_new_queue(name, token, status, queue)
        queue.PrivateQueueNumber = None
        try:
            return super()._save_new_queue(name, token, status, queue)
        finally:
            queue.PrivateQueueNumber = number


@fault("create-public-as-private", breaks="MQDMPR-3.1.7.1.3-D03")
class PublicAsPrivate(QueueCommands):
    """A public queue is told of by a private format name, too."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        if queue is None or queue.QueueType is not QueueType.PUBLIC:
            return super()._save_new_queue(name, token, status, queue)
        queue.PrivateQueueNumber = 0x7777
        try:
            return super()._save_new_queue(name, token, status, queue)
        finally:
            queue.PrivateQueueNumber = None


@fault("create-public-not-published", breaks="MQDMPR-3.1.7.1.3-D05")
class PublicNotPublished(Publishing):
    """A public queue is created, and the directory hears nothing of it."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        published(Status.MQ_OK)


@fault("create-public-without-directory", breaks="MQDMPR-3.1.7.1.3-D06")
class PublicWithoutDirectory(Publishing):
    """A public queue is created although the directory does not answer: it may be published later."""

    def publish(self, queue: Queue, published: OnStatus) -> None:
        super().publish(queue, lambda status: published(Status.MQ_OK))
