"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue that only special cases reveal: limits of values, other kinds of queues,
and later queues.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, only_if
from reference_qm.core.names.queue_names import parse_path
from reference_qm.core.part import QM
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import UNLIMITED
from reference_qm.model.statuses import Status
from reference_qm.security import SecurityDescriptor, Sid


@fault("queue-manager-create-queue-journal-quota-from-quota", breaks="MQDMPR-3.1.7.1.3-02")
class QueueManagerCreateQueueJournalQuotaFromQuota(Queues):
    """If the creator of a queue supplies a Quota but no JournalQuota, the queue manager also uses the Quota as
    JournalQuota.
    """

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Quota != UNLIMITED and queue.JournalQuota == UNLIMITED:
            queue.JournalQuota = queue.Quota
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-name-of-journal-accepted", breaks="MQDMPR-3.1.7.1.3-05")
class QueueManagerCreateQueueNameOfJournalAccepted(Queues):
    """The queue manager creates a queue although its path name denotes the journal of a queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        path = parse_path(queue.Pathname)
        if path is not None and path.journal:
            queue.Pathname = queue.Pathname.partition(";")[0] + "-journal"
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-later-queue-shares-journal", breaks="MQDMPR-3.1.7.1.3-10")
class QueueManagerCreateQueueLaterQueueSharesJournal(Queues):
    """The queue manager assigns the journal of an earlier queue with journaling to a new queue with journaling."""

    def add(self, queue: Queue) -> None:
        earlier = [one for one in self.qm.adm.QueueCollection.values() if one.Journaling]
        super().add(queue)
        if queue.Journaling and earlier:
            queue.JournalQueueReference = earlier[-1].JournalQueueReference


@fault("queue-manager-create-queue-label-of-64-characters", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueLabelOf64Characters(Queues):
    """The queue manager keeps only the first 64 characters of the Label of a new queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Label = queue.Label[:64]
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-quota-of-31-bits", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueQuotaOf31Bits(Queues):
    """The queue manager keeps only the low 31 bits of the Quota of a new queue."""

    @only_if(lambda part, queue, utc_s: queue.Quota != UNLIMITED)
    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Quota &= 0x7FFFFFFF
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-negative-base-priority-is-zero", breaks="MQDMPR-3.1.7.1.3-D01")
class QueueManagerCreateQueueNegativeBasePriorityIsZero(Queues):
    """If the creator of a new queue supplies a negative BasePriority, the queue manager sets BasePriority to 0."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.BasePriority = max(0, queue.BasePriority)
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-number-of-queues-as-private-number", breaks="MQDMPR-3.1.7.1.3-D04")
class QueueManagerCreateQueueNumberOfQueuesAsPrivateNumber(Queues):
    """The queue manager uses the number of existing queues as PrivateQueueNumber of a new private queue, although
    another queue may have this number.
    """

    def _next_number(self) -> int:
        return len(self.qm.adm.QueueCollection) + 5


@fault("queue-manager-create-queue-subqueue-with-journal", breaks="MQDMPR-3.1.7.1.3-07")
class QueueManagerCreateQueueSubqueueWithJournal(Queues):
    """The queue manager creates a separate journal for a subqueue of a queue with journaling."""

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        if parent.Journaling and parent.JournalQueueReference is not None:
            queue.JournalQueueReference = replace(parent.JournalQueueReference, Pathname=f"{queue.Pathname}-journal")


@fault("queue-manager-create-queue-type-of-earlier-queue", breaks="MQDMPR-3.1.7.1.3-02")
class QueueManagerCreateQueueTypeOfEarlierQueue(Queues):
    """If the creator of a queue supplies no Type, the queue manager assigns the Type of the previously
    created queue.
    """

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        earlier = list(self.qm.adm.QueueCollection.values())
        if not queue.Type.int and earlier:
            queue.Type = earlier[-1].Type
        return super().create_here(queue, utc_s)


@fault("queue-manager-create-queue-name-with-space-at-end-trimmed", breaks="MQDMPR-3.1.7.1.3-05")
class QueueManagerCreateQueueNameWithSpaceAtEndTrimmed(Queues):
    """The queue manager creates a queue although the path name ends with a space, and removes the space."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Pathname = queue.Pathname.rstrip(" ")
        return super().create_here(queue, utc_s)


@fault("queue-manager-dacl-of-more-than-four-entries-shortened", breaks="MQDMPR-3.1.7.1.3.1-08")
class QueueManagerDaclOfMoreThanFourEntriesShortened(Queues):
    """The queue manager keeps at most four entries of a supplied DACL."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        built = super().create_security(supplied, user)
        if supplied is None or supplied.Dacl is None or built.Dacl is None:
            return built
        return replace(built, Dacl=replace(built.Dacl, Aces=built.Dacl.Aces[:4]))


@fault("refused-public-queue-created-when-directory-is-back", breaks="MQDMPR-3.1.7.1.3-D06", blind=True)
class RefusedPublicQueueCreatedWhenDirectoryIsBack(Publishing):
    """The queue manager creates a public queue whose creation it refused, when the directory is available again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused: list[Queue] = []

    def publish(self, queue: Queue, published: OnStatus) -> None:
        def note(status: Status) -> None:
            if status is not Status.MQ_OK:
                self.refused.append(queue)
            published(status)

        super().publish(queue, note)

    def update_public_queues(self) -> None:
        super().update_public_queues()
        for queue in self.refused:
            self.qm.queues.create_here(queue, 0)
        self.refused.clear()


@fault("second-public-queue-with-identifier-of-first", breaks="MQDMPR-3.1.7.1.3-D05", blind=True)
class SecondPublicQueueWithIdentifierOfFirst(Publishing):
    """The queue manager assigns the Identifier of the first public queue to the second public queue instead of the GUID
    of its directory object.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        def replace_identifier(status: Status) -> None:
            first = next((one for one in self._list_public_queues() if one.Identifier != queue.Identifier), None)
            if status is Status.MQ_OK and first is not None:
                queue.Identifier = first.Identifier
            published(status)

        super().publish(queue, replace_identifier)
