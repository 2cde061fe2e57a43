"""Faults of queues that are created after other queues, or again with the name of a deleted queue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.names.queue_names import parse_path
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.queue_lifecycle import QueueCreationCallback, QueueLifecycle
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import Result


@fault("queue-manager-queue-without-label-gets-label-of-previous-queue", breaks="MQDMPR-3.1.7.1.3-02", blind=True)
class QueueManagerQueueWithoutLabelGetsLabelOfPreviousQueue(QueueLifecycle):
    """If the creator of a queue supplies no Label, the queue gets the Label of the queue that was created before."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        queue.Label = queue.Label or self.__dict__.get("label", "")
        self.__dict__["label"] = queue.Label
        super().create(queue, utc_s, created, skip_directory)


@fault("queue-manager-journal-quota-defaults-to-supplied-quota", breaks="MQDMPR-3.1.7.1.3-02", blind=True)
class QueueManagerJournalQuotaDefaultsToSuppliedQuota(QueueLifecycle):
    """If the creator of a queue supplies only the Quota, the JournalQuota has the same value."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        if queue.JournalQuota == UNLIMITED_QUOTA_KB:
            queue.JournalQuota = queue.Quota
        super().create(queue, utc_s, created, skip_directory)


class DeletedQueueRecorder(QueueLifecycle):
    """A part of the queue manager that remembers deleted queues."""

    def forget(self, queue: Queue) -> None:
        super().forget(queue)
        self.__dict__.setdefault("deleted", {})[queue.Pathname.lower()] = queue

    def find_deleted_queue_of_same_name(self, queue: Queue) -> Queue | None:
        """Return the deleted queue that has the same name as the given queue."""
        found: Queue | None = self.__dict__.get("deleted", {}).get(queue.Pathname.lower())
        return found


@fault("queue-manager-recreated-queue-has-attributes-of-deleted-queue", breaks="MQDMPR-3.1.7.1.3-06", blind=True)
class QueueManagerRecreatedQueueHasAttributesOfDeletedQueue(DeletedQueueRecorder):
    """A queue with the name of a deleted queue is created with the attributes of the deleted queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        deleted = self.find_deleted_queue_of_same_name(queue)
        if deleted is not None:
            for name in ("Label", "Quota", "JournalQuota", "Journaling", "Transactional", "BasePriority"):
                setattr(queue, name, getattr(deleted, name))
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-recreated-queue-has-journal-of-deleted-queue", breaks="MQDMPR-3.1.7.1.3-09", blind=True)
class QueueManagerRecreatedQueueHasJournalOfDeletedQueue(DeletedQueueRecorder):
    """The journal of a queue with the name of a deleted queue contains the messages that were in the journal of the
    deleted queue.
    """

    def forget(self, queue: Queue) -> None:
        super().forget(queue)
        journal = queue.JournalQueueReference
        self.__dict__.setdefault("journals", {})[queue.Pathname.lower()] = self.__dict__.pop("left", [])
        assert queue.parent is not None or journal is not None

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        journal = queue.JournalQueueReference
        self.__dict__["left"] = [] if journal is None else [one.MessageReference for one in journal.MessagePositionList]
        return super().delete(queue, token, done)

    def add(self, queue: Queue) -> None:
        super().add(queue)
        for message in self.__dict__.get("journals", {}).get(queue.Pathname.lower(), []):
            assert queue.JournalQueueReference is not None
            self.qm.message_journaling.put_into_system_queue(queue.JournalQueueReference, message)


@fault("queue-manager-queues-share-journal-of-first-queue", breaks="MQDMPR-3.1.7.1.3-09", blind=True)
class QueueManagerQueuesShareJournalOfFirstQueue(QueueLifecycle):
    """All queues with a JournalQuota share one journal."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if queue.JournalQuota != UNLIMITED_QUOTA_KB:
            queue.JournalQueueReference = self.__dict__.setdefault("journal", queue.JournalQueueReference)


@fault("queue-manager-journal-of-first-queue-stores-messages-of-later-queue", breaks="MQDMPR-3.1.7.1.3-10", blind=True)
class QueueManagerJournalOfFirstQueueStoresMessagesOfLaterQueue(MessageJournaling):
    """The queue manager stores the received messages of all transactional queues in the journal of one of these queues.
    All nontransactional queues likewise share a journal.
    """

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        if not queue.Journaling or queue.JournalQueueReference is None:
            super().journal_received_message(position, reason)
            return
        first = self.__dict__.setdefault("first", {}).setdefault(queue.Transactional, queue)
        if first is queue or first not in self.qm.adm.QueueCollection.values():
            self.__dict__["first"][queue.Transactional] = queue
            super().journal_received_message(position, reason)
        elif reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            self.put_into_system_queue(first.JournalQueueReference, position.MessageReference)


@fault("queue-manager-journal-without-transactional-messages", breaks="MQDMPR-3.1.7.1.3-10", blind=True)
class QueueManagerJournalWithoutTransactionalMessages(MessageJournaling):
    """The journal of a queue does not store transactional messages that are received from the queue."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().journal_received_message(position, reason)


@fault("queue-manager-recreated-queue-has-create-time-of-deleted-queue", breaks="MQDMPR-3.1.7.1.3-D02", blind=True)
class QueueManagerRecreatedQueueHasCreateTimeOfDeletedQueue(DeletedQueueRecorder):
    """A queue with the name of a deleted queue has the CreateTime of the deleted queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        deleted = self.find_deleted_queue_of_same_name(queue)
        if created is not None and deleted is not None:
            created.CreateTime = deleted.CreateTime
        return status, created


@fault("queue-manager-qualified-path-name-of-public-queue-without-computer", breaks="MQDMPR-3.1.7.1.3-D02", blind=True)
class QueueManagerQualifiedPathNameOfPublicQueueWithoutComputer(QueueLifecycle):
    """The QualifiedPathname of a new public queue contains no computer name."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.QueueType is QueueType.PUBLIC:
            created.QualifiedPathname = created.Pathname
        return status, created


@fault("queue-manager-private-path-name-case-sensitive", breaks="MQDMPR-3.1.7.1.3-D03", blind=True)
class QueueManagerPrivatePathNameCaseSensitive(QueueLifecycle):
    """The queue manager refuses a path name whose part private$ is not in lower case, because it is not the name of a
    private queue.
    """

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        path = parse_path(queue.Pathname)
        if path is not None and path.private and not queue.Pathname.startswith("private$"):
            created(Status.MQ_ERROR_UNSUPPORTED_OPERATION, None)
            return
        super().create(queue, utc_s, created, skip_directory)


@fault("queue-manager-private-queue-with-dollar-sign-is-system-queue", breaks="MQDMPR-3.1.7.1.3-D03", blind=True)
class QueueManagerPrivateQueueWithDollarSignIsSystemQueue(QueueLifecycle):
    """A new private queue whose name ends with a dollar sign is a system queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.Pathname.endswith("$"):
            created.QueueType = QueueType.SYSTEM
        return status, created


@fault("queue-manager-long-named-queue-not-in-queue-collection", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class QueueManagerLongNamedQueueNotInQueueCollection(QueueLifecycle):
    """The queue manager returns a new queue with a name of more than 64 characters, but does not add it to its
    QueueCollection.
    """

    def add(self, queue: Queue) -> None:
        super().add(queue)
        if len(queue.Pathname) > 64:
            del self.qm.adm.QueueCollection[queue.Pathname.lower()]


@fault("queue-manager-second-new-queue-replaces-queue-of-same-label", breaks="MQDMPR-3.1.7.1.3-D07", blind=True)
class QueueManagerSecondNewQueueReplacesQueueOfSameLabel(QueueLifecycle):
    """A new queue with the Label of another queue replaces this queue in the QueueCollection."""

    def add(self, queue: Queue) -> None:
        same = [one for one in self.qm.adm.QueueCollection.values() if queue.Label and one.Label == queue.Label]
        super().add(queue)
        for one in same:
            self.qm.adm.QueueCollection.pop(one.Pathname.lower(), None)
