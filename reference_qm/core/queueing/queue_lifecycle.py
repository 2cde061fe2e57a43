from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import replace
from typing import TypeAlias
from uuid import uuid5

from reference_qm.codec import MessageClass
from reference_qm.core.names.queue_names import (
    JOURNAL_SUFFIX,
    ORDER_QUEUE_NUMBER,
    ORDER_QUEUE_PATH,
    QueuePath,
    list_queue_with_children,
    parse_path,
)
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import Change
from reference_qm.core.store.entries import format_queue_name_of_entry, format_transfer_name, list_incoming_transfers
from reference_qm.directory.enums import QueueType
from reference_qm.directory.properties import find_object_sid
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.position_list import MessagePositionList
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.security import ANONYMOUS_SID, SecurityDescriptor, Sid, build_default_queue_security
from reference_qm.surface.commands import Result

QUEUE_ATTRIBUTES_SET_BY_CREATOR = (
    "Label",
    "Type",
    "Journaling",
    "Quota",
    "JournalQuota",
    "Authentication",
    "PrivacyLevel",
    "Transactional",
    "MulticastAddress",
    "Security",
    "BasePriority",
)
"""The attributes of a new queue that its creator sets, except the Pathname. Spec: MS-MQDMPR 3.1.7.1.3."""


QUEUE_ATTRIBUTES_FROM_DIRECTORY = ("Identifier", "FullPath", "DirectoryPath")
"""The attributes of a public queue whose values come from the directory."""
QueueCreationCallback: TypeAlias = Callable[[Status, Queue | None], None]


def make_queue_with_defaults(pathname: str) -> Queue:
    """Return a queue object with default attributes. The caller sets the other attributes of the object, and then
    creates the queue from the object. Spec: MS-MQDMPR 3.1.7.1.33.
    """
    return Queue(Pathname=pathname)


class QueueLifecycle(QueueManagerPart):
    """Creates, deletes and purges queues. Spec: MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.7, 3.1.7.1.33."""

    __slots__ = ()

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        """Create a private queue, a public queue or a subqueue. Spec: MS-MQDMPR 3.1.7.1.3.

        The return values are passed to ``created``. For a public queue, this happens after the directory has
        answered.
        """
        path = parse_path(queue.Pathname)
        public = path is not None and not (path.private or path.journal) and path.subqueue is None
        if skip_directory or not public or self.qm.queue_names.find_queue_by_path(queue.Pathname) is not None:
            created(*self.create_without_directory(queue, utc_s))
            return

        def create_if_published(status: Status) -> None:
            created(*(self.create_without_directory(queue, utc_s) if status is Status.MQ_OK else (status, None)))

        self.qm.public_queue_publishing.publish(queue, create_if_published)

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        """Create a queue without a change of the directory. Spec: MS-MQDMPR 3.1.7.1.3.

        The names of existing queues and of the queue manager's own queues are refused. The document has no status
        for these refusals.
        """
        path = parse_path(queue.Pathname)
        if path is None or path.journal:
            return Status.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, None
        if path.queue.lower() == ORDER_QUEUE_PATH:
            return Status.MQ_ERROR_ACCESS_DENIED, None
        if self.qm.queue_names.find_queue_by_path(queue.Pathname) is not None:
            return Status.MQ_ERROR_QUEUE_EXISTS, None
        created = Queue(
            Pathname=queue.Pathname,
            QualifiedPathname=f"{self.qm.config.host_name}\\{queue.Pathname}",
            QueueType=QueueType.PRIVATE if path.private else QueueType.PUBLIC,
            CreateTime=utc_s,
            ModifyTime=utc_s,
            **{name: getattr(queue, name) for name in QUEUE_ATTRIBUTES_SET_BY_CREATOR},
        )
        if path.subqueue is not None:
            return self._add_subqueue(created, path)
        if path.private:
            created.PrivateQueueNumber = self._assign_private_queue_number()
            created.Identifier = uuid5(self.qm.adm.Identifier, f"{created.PrivateQueueNumber}")
        else:
            for name in QUEUE_ATTRIBUTES_FROM_DIRECTORY:
                setattr(created, name, getattr(queue, name))
        self.add(created)
        return Status.MQ_OK, created

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        """Build the security descriptor of a queue from the descriptor that the creator of the queue supplied.

        Spec: MS-MQDMPR 3.1.7.1.3.1.
        """
        if supplied is None:
            return self.create_default_security(user)
        default = self.create_default_security(self.find_owner_of_new_queue(supplied.Owner or user))
        return replace(default, Dacl=default.Dacl if supplied.Dacl is None else supplied.Dacl, Sacl=supplied.Sacl)

    def find_owner_of_new_queue(self, sid: Sid) -> Sid:
        """Return the owner of a new queue: the domain user if there is one, otherwise the anonymous user. Spec:
        MS-MQDMPR 3.1.7.1.3.1.
        """
        known = (account.SecurityIdentifier for account in self.qm.config.security.accounts)
        return sid if sid in known else ANONYMOUS_SID

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        """Build the default security descriptor of a queue. Spec: MS-MQDMPR 3.1.7.1.3.1."""
        return build_default_queue_security(owner, self.find_machine_sid())

    def find_machine_sid(self) -> Sid | None:
        """Return the objectSid that the directory has for this computer, or None if the objectSid is unknown. Spec:
        MS-MQDMPR 3.1.7.1.3.1.
        """
        enterprise = self.qm.enterprise
        found = find_object_sid(enterprise.directory, enterprise.state.LocalQueueManager.ComputerName)
        return None if found is None else Sid.parse(found)

    def add(self, queue: Queue) -> None:
        """Add a queue and its journal to QueueCollection. Spec: MS-MQDMPR 3.1.7.1.3."""
        queue.MessagePositionList = MessagePositionList(self.qm.adm.storage)
        queue.JournalQueueReference = Queue(
            Pathname=f"{queue.Pathname};{JOURNAL_SUFFIX}",
            QueueType=QueueType.SYSTEM,
            MessagePositionList=MessagePositionList(self.qm.adm.journal_storage),
            parent=queue,
        )
        self.qm.adm.QueueCollection[queue.Pathname.lower()] = queue

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        """Add a subqueue to its queue. A subqueue accepts the same messages as its queue."""
        for attribute in QUEUE_ATTRIBUTES_SET_BY_CREATOR:
            setattr(queue, attribute, getattr(parent, attribute))
        queue.MessagePositionList = MessagePositionList(self.qm.adm.storage)
        queue.parent = parent
        parent.SubqueueCollection[name.lower()] = queue

    def forget(self, queue: Queue) -> None:
        """Remove a queue from QueueCollection, or a subqueue from the list of its queue. If the collection already
        contains a newer queue with the same name, do nothing.
        """
        collection: MutableMapping[str, Queue] = self.qm.adm.QueueCollection
        name = queue.Pathname.lower()
        if queue.parent is not None:
            collection, name = queue.parent.SubqueueCollection, name.partition(";")[2]
        if collection.get(name) is queue:
            del collection[name]
        if queue.QueueType is QueueType.PUBLIC and queue.parent is None:
            self.qm.public_queue_publishing.store_public_queue_attributes()

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        """Delete a queue, its journal, its subqueues and all their messages. Spec: MS-MQDMPR 3.1.7.1.4.

        Reads that wait for messages of the queue are ended, because their descriptors no longer refer to a queue.
        ``done`` is called when the deletion is on disk.
        """

        def carry_out() -> Result:
            self.qm.disk.save(self._build_deletion(queue))  # also messages that arrived in the meantime
            for one in list_queue_with_children(queue):
                for position in one.MessagePositionList:
                    self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
                self._close_descriptors(one)
            self.forget(queue)
            return done()

        return self.qm.disk.commit(self._build_deletion(queue), token, carry_out, _skip_undo)

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        """Delete every message of a queue. Spec: MS-MQDMPR 3.1.7.1.7.

        From the call on, no reader gets the messages to be deleted. When the deletion is on disk, ``done`` is called
        with the number of deleted messages. If the disk fails, ``failed`` is called. Messages that are still being
        written to the disk are deleted too. A locked message is deleted later, unless its transaction commits.
        """
        reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        available, arriving, locked = _split_messages_by_state(queue)
        for position in available:
            position.State = MessagePositionState.LOCKED

        def carry_out() -> Result:
            _mark_messages_for_purge(locked)
            self.qm.disk.save(
                self.qm.durable_records.build_purge_record(
                    self.qm.transaction_operations.find_messages_received_by_prepared_transactions()
                )
            )
            _mark_messages_for_purge(one for one in arriving if not one.is_disk_write_pending)
            at_once = available + [one for one in arriving if one.is_disk_write_pending or _is_position_available(one)]
            left = [one for one in at_once if one.State is not MessagePositionState.DELETED]
            for position in left:
                self.qm.message_positions.delete_message(position, reason)
            return done(len(left))

        def keep_messages() -> None:
            for position in available:
                self.qm.message_positions.unlock_message(position)
            if failed is not None:
                failed()

        kept = self.qm.transaction_operations.find_messages_kept_by_transactions()
        gone_after_a_crash = available + arriving + [position for position in locked if position not in kept]
        return self.qm.disk.commit(
            self.qm.durable_records.build_message_removal(gone_after_a_crash, reason), token, carry_out, keep_messages
        )

    def _add_subqueue(self, queue: Queue, path: QueuePath) -> tuple[Status, Queue | None]:
        parent = self.qm.adm.QueueCollection.get(path.queue.lower())
        if parent is None or path.subqueue is None:
            return Status.MQ_ERROR_QUEUE_NOT_FOUND, None
        queue.QueueType = parent.QueueType
        self.add_subqueue(queue, parent, path.subqueue)
        return Status.MQ_OK, queue

    def _assign_private_queue_number(self) -> int:
        """Return a PrivateQueueNumber that no queue has or has had. Spec: MS-MQDMPR 3.1.7.1.3."""
        number = self.qm.adm.last_private_queue_number + 1
        number += number == ORDER_QUEUE_NUMBER
        self.qm.adm.last_private_queue_number = number
        return number

    def _build_deletion(self, queue: Queue) -> Change:
        """Return the store entries to remove when a queue, its journal, its subqueues and all their messages are
        deleted.
        """
        change: Change = {}
        for one in list_queue_with_children(queue):
            change |= self.qm.durable_records.build_message_removal(
                one.MessagePositionList, MessageClass.MQMSG_CLASS_NACK_Q_DELETED
            )
            change |= {format_transfer_name(transfer): None for transfer in list_incoming_transfers(one)}
            if one.QueueType is not QueueType.SYSTEM:
                change[format_queue_name_of_entry(one)] = None
        return change

    def _close_descriptors(self, queue: Queue) -> None:
        descriptors, queue.OpenQueueDescriptorCollection = queue.OpenQueueDescriptorCollection, {}
        for descriptor in descriptors.values():
            descriptor.QueueReference = None
        for descriptor in descriptors.values():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)


def _split_messages_by_state(
    queue: Queue,
) -> tuple[list[MessagePosition], list[MessagePosition], list[MessagePosition]]:
    """Return the messages of a queue as three lists: the available messages, the messages that are being written to the
    disk, and the locked messages.
    """
    available: list[MessagePosition] = []
    arriving: list[MessagePosition] = []
    locked: list[MessagePosition] = []
    for position in queue.MessagePositionList:
        (
            available if _is_position_available(position) else arriving if position.is_disk_write_pending else locked
        ).append(position)
    return available, arriving, locked


def _is_position_available(position: MessagePosition) -> bool:
    return position.State is MessagePositionState.AVAILABLE


def _mark_messages_for_purge(positions: Iterable[MessagePosition]) -> None:
    for position in positions:
        if position.State is MessagePositionState.LOCKED:
            position.State = MessagePositionState.PURGE_PENDING


def _skip_undo() -> None:
    """Do nothing, because there is no change to undo."""
