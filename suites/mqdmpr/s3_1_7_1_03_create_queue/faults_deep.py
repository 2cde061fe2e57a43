"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue: limits of values, other kinds of queues, and later queues."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, only_if
from reference_qm.core.names.queue_names import parse_path
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import UNLIMITED
from reference_qm.model.statuses import Status


@fault("queue-manager-create-queue-journal-quota-from-quota", breaks="MQDMPR-3.1.7.1.3-02")
class JournalQuotaFromQuota(Queues):
    """The queue manager gives a new queue whose creator supplies a Quota, but no JournalQuota, the Quota as
    JournalQuota.
    """

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Quota != UNLIMITED and queue.JournalQuota == UNLIMITED:
            queue.JournalQuota = queue.Quota
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-name-of-journal-accepted", breaks="MQDMPR-3.1.7.1.3-05")
class JournalNameAccepted(Queues):
    """The queue manager creates a queue when the path name names the journal of a queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        path = parse_path(queue.Pathname)
        if path is not None and path.journal:
            queue.Pathname = queue.Pathname.partition(";")[0] + "-journal"
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-later-queue-shares-journal", breaks="MQDMPR-3.1.7.1.3-10")
class SharedJournal(Queues):
    """A new queue with journaling uses the journal of an earlier queue with journaling."""

    def add(self, queue: Queue) -> None:
        earlier = [one for one in self.qm.adm.QueueCollection.values() if one.Journaling]
        super().add(queue)
        if queue.Journaling and earlier:
            queue.JournalQueueReference = earlier[-1].JournalQueueReference


@fault("queue-manager-create-queue-label-of-64-characters", breaks="MQDMPR-3.1.7.1.3-D01")
class ShortLabel(Queues):
    """The queue manager keeps the first 64 characters of the Label of a new queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Label = queue.Label[:64]
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-quota-of-31-bits", breaks="MQDMPR-3.1.7.1.3-D01")
class QuotaOf31Bits(Queues):
    """The queue manager keeps 31 bits of the Quota of a new queue."""

    @only_if(lambda part, queue, utc_s: queue.Quota != UNLIMITED)
    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Quota &= 0x7FFFFFFF
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-negative-base-priority-is-zero", breaks="MQDMPR-3.1.7.1.3-D01")
class NoNegativePriority(Queues):
    """The queue manager gives a new queue the BasePriority 0 instead of a negative one."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.BasePriority = max(0, queue.BasePriority)
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-number-of-queues-as-private-number", breaks="MQDMPR-3.1.7.1.3-D04")
class NumberOfQueues(Queues):
    """The PrivateQueueNumber of a new private queue is the number of queues, which may be that of another queue."""

    def _next_number(self) -> int:
        return len(self.qm.adm.QueueCollection) + 5


@fault("queue-manager-create-queue-subqueue-with-journal", breaks="MQDMPR-3.1.7.1.3-07")
class SubqueueWithJournal(Queues):
    """A subqueue of a queue with journaling gets a journal of its own."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        if parent.Journaling and parent.JournalQueueReference is not None:
            queue.JournalQueueReference = replace(parent.JournalQueueReference, Pathname=f"{queue.Pathname}-journal")


@fault("queue-manager-create-queue-type-of-earlier-queue", breaks="MQDMPR-3.1.7.1.3-02")
class TypeOfEarlierQueue(Queues):
    """A new queue without a Type gets the Type of the queue that was created before."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        earlier = list(self.qm.adm.QueueCollection.values())
        if not queue.Type.int and earlier:
            queue.Type = earlier[-1].Type
        return super().create_here(queue, utc_s)
