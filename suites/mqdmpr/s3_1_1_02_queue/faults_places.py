"""Faults that break rules of MS-MQDMPR 3.1.1.2 Queue for one kind of queue, reader or cause."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from enum import Enum
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.directory import Queue as PublishedQueue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import QueueType
from reference_qm.directory.events import create_directory_object
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Entry
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.security import Acl, SecurityDescriptor, Sid
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import GetOutgoingQueue
from reference_qm.surface.commands import Result as CommandResult
from suites.mqdmpr.s3_1_3_initialization.fault_steps import change_state_after_restart

GENERIC_ALL_RIGHT, SYNCHRONIZE_RIGHT = 0x1000_0000, 0x0010_0000
"""Two access rights that MQQUEUEACCESSMASK does not contain."""


def _change_access_masks(security: SecurityDescriptor, change: Callable[[int], int]) -> SecurityDescriptor:
    """Return a copy of a security descriptor in which the access mask of every ACE is changed."""
    if security.Dacl is None:
        return security
    aces = tuple(replace(ace, Mask=change(ace.Mask)) for ace in security.Dacl.Aces)
    return replace(security, Dacl=Acl(aces))


def _add_synchronize_to_access_masks(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Security = _change_access_masks(queue.Security, lambda mask: mask | SYNCHRONIZE_RIGHT)


add(
    "queue-manager-restored-masks-with-synchronize",
    "MQDMPR-3.1.1.2-08",
    "After a restart the access masks of all queues contain SYNCHRONIZE.",
    change_state_after_restart(_add_synchronize_to_access_masks),
    blind=True,
)


@fault("queue-manager-access-masks-of-public-queue-contain-synchronize", breaks="MQDMPR-3.1.1.2-08", blind=True)
class QueueManagerAccessMasksOfPublicQueueContainSynchronize(QueueLifecycle):
    """The access masks of a public queue contain SYNCHRONIZE."""

    def add(self, queue: Queue) -> None:
        if queue.QueueType is QueueType.PUBLIC:
            queue.Security = _change_access_masks(queue.Security, lambda mask: mask | SYNCHRONIZE_RIGHT)
        super().add(queue)


class UnlistedQueueScope(Enum):
    """Values of Scope that MS-MQDMPR 3.1.1.2 does not list."""

    COMPUTER = "Computer"
    NUMBER = "1"


@fault("queue-manager-scope-of-public-queue-is-computer", breaks="MQDMPR-3.1.1.2-09", blind=True)
class QueueManagerScopeOfPublicQueueIsComputer(QueueLifecycle):
    """The Scope of a public queue is Computer."""

    def add(self, queue: Queue) -> None:
        if queue.QueueType is QueueType.PUBLIC:
            queue.Scope = UnlistedQueueScope.COMPUTER  # type: ignore[assignment]
        super().add(queue)


@fault("queue-manager-scope-of-transactional-queue-shown-as-number", breaks="MQDMPR-3.1.1.2-09", blind=True)
class QueueManagerScopeOfTransactionalQueueShownAsNumber(QueueLifecycle):
    """The Scope of a transactional queue is a number."""

    def add(self, queue: Queue) -> None:
        if queue.Transactional:
            queue.Scope = UnlistedQueueScope.NUMBER  # type: ignore[assignment]
        super().add(queue)


def _set_scopes_of_restored_queues_to_computer(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Scope = UnlistedQueueScope.COMPUTER  # type: ignore[assignment]


add(
    "queue-manager-restored-scope-computer",
    "MQDMPR-3.1.1.2-09",
    "After a restart the Scope of every queue is Computer.",
    change_state_after_restart(_set_scopes_of_restored_queues_to_computer),
    blind=True,
)


class _SystemQueuePublisher(DirectoryClient):
    """Publish system queues in the directory after a synchronization."""

    def list_published_paths(self) -> list[str]:
        """Return the path names of the system queues that are published in the directory."""
        return []

    def synchronize_with_directory(self, now: Now) -> Result:
        status = super().synchronize_with_directory(now)
        state = self.qm.enterprise.state
        for path in self.list_published_paths() if status is Result.SUCCESS else ():
            element = PublishedQueue(Pathname=f"{state.LocalQueueManager.ComputerName}\\{path}")
            self.qm.directory_link.write(create_directory_object(state, element), lambda answer: None)
        return status


@fault("queue-manager-order-queue-published-in-directory", breaks="MQDMPR-3.1.1.2-18", blind=True)
class QueueManagerOrderQueuePublishedInDirectory(_SystemQueuePublisher):
    """The queue manager creates an object for its order queue in the directory."""

    def list_published_paths(self) -> list[str]:
        return ["private$\\order_queue$"]


@fault("queue-manager-transactional-dead-letter-queue-published", breaks="MQDMPR-3.1.1.2-18", blind=True)
class QueueManagerTransactionalDeadLetterQueuePublished(_SystemQueuePublisher):
    """The queue manager creates an object for its transactional dead-letter queue in the directory."""

    def list_published_paths(self) -> list[str]:
        return ["system$;deadxact"]


@fault("queue-manager-journal-of-public-queue-published-in-directory", breaks="MQDMPR-3.1.1.2-18", blind=True)
class QueueManagerJournalOfPublicQueuePublishedInDirectory(QueueLifecycle):
    """The queue manager creates an object for the journal of each new public queue in the directory."""

    def add(self, queue: Queue) -> None:
        super().add(queue)
        state = self.qm.enterprise.state
        if queue.QueueType is QueueType.PUBLIC and state.DirectoryIntegrated:
            element = PublishedQueue(Pathname=f"{state.LocalQueueManager.ComputerName}\\{queue.Pathname};journal")
            self.qm.directory_link.write(create_directory_object(state, element), lambda answer: None)


class _ActiveAttributeChanger(DataModelInspection):
    """Show a wrong value of the attribute Active for some queues; a subclass selects the queues."""

    def compute_active(self, queue: Queue) -> bool:
        """Return the wrong value of the attribute Active of a queue."""
        return queue.Active

    def inspect(self, now: Now) -> dict[str, Any]:
        tree = super().inspect(now)
        collections = (
            (tree["QueueManager"]["QueueCollection"], self.qm.adm.QueueCollection.values()),
            (tree["OutgoingQueues"], self.qm.adm.OutgoingQueues.values()),
        )
        for shown, queues in collections:
            for one, queue in zip(shown, queues, strict=True):
                one["Active"] = self.compute_active(queue)
        return tree

    def get_outgoing_queue(self, request: GetOutgoingQueue, token: int, now: Now) -> CommandResult:
        found = super().get_outgoing_queue(request, token, now)
        for shown in found.values["outgoing"]:
            shown["Active"] = self.compute_active(self.qm.adm.OutgoingQueues[shown["DestinationFormatName"].lower()])
        return found


@fault("queue-manager-queue-open-to-peek-not-active", breaks="MQDMPR-3.1.1.2-12", blind=True)
class QueueManagerQueueOpenToPeekNotActive(_ActiveAttributeChanger):
    """The attribute Active of a queue that is open only to peek is False."""

    def compute_active(self, queue: Queue) -> bool:
        accesses = {one.AccessType.value for one in queue.OpenQueueDescriptorCollection.values()}
        return queue.Active and not (accesses and accesses <= {"PeekAccess", "PeekAdminAccess"})


@fault("queue-manager-queue-open-twice-not-active", breaks="MQDMPR-3.1.1.2-12", blind=True)
class QueueManagerQueueOpenTwiceNotActive(_ActiveAttributeChanger):
    """The attribute Active of a queue with two OpenQueueDescriptors is False."""

    def compute_active(self, queue: Queue) -> bool:
        return queue.Active and len(queue.OpenQueueDescriptorCollection) != 2


@fault("queue-manager-local-queue-with-messages-active", breaks="MQDMPR-3.1.1.2-12", blind=True)
class QueueManagerLocalQueueWithMessagesActive(_ActiveAttributeChanger):
    """The attribute Active of a local queue that contains messages is True, although the queue is not open."""

    def compute_active(self, queue: Queue) -> bool:
        return queue.Active or (not isinstance(queue, OutgoingQueue) and len(queue.MessagePositionList) > 0)


@fault("queue-manager-outgoing-queue-with-one-recoverable-message-not-active", breaks="MQDMPR-3.1.1.2-12", blind=True)
class QueueManagerOutgoingQueueWithOneRecoverableMessageNotActive(_ActiveAttributeChanger):
    """The attribute Active of an outgoing queue is False if all messages that await transfer are recoverable."""

    def compute_active(self, queue: Queue) -> bool:
        waiting = list(queue.session.OutgoingMessageTable) if isinstance(queue, OutgoingQueue) else []
        return queue.Active and not (waiting and all(one.recoverable for one in waiting))


class _LastReceivedMessageKeeper(MessageReading):
    """Keep the message that was received last from each queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.received: dict[Queue, MessagePosition] = {}

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        self.received[position.QueueReference] = position
        super().take_message_out(position, transaction, two_phase_read, answered)

    def find_last_received_message(self, queue: Queue | None) -> MessagePosition | None:
        """Return the message that was received last from a queue that is now empty."""
        return None if queue is None or len(queue.MessagePositionList) else self.received.get(queue)


@fault("queue-manager-peek-of-emptied-queue-returns-last-message", breaks="MQDMPR-3.1.1.2-21", blind=True)
class QueueManagerPeekOfEmptiedQueueReturnsLastMessage(_LastReceivedMessageKeeper):
    """A peek at an empty queue returns the message that was received last from the queue."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        gone = self.find_last_received_message(queue_desc.QueueReference)
        if gone is not None and cursor is None:
            answered(Status.MQ_OK, gone)
        else:
            super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-lookup-in-emptied-queue-returns-last-message", breaks="MQDMPR-3.1.1.2-21", blind=True)
class QueueManagerLookupInEmptiedQueueReturnsLastMessage(_LastReceivedMessageKeeper):
    """A peek by LookupIdentifier at an empty queue returns the message that was received last from the queue."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: OnReadAnswered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        gone = self.find_last_received_message(queue_desc.QueueReference)
        if gone is not None and peek_operation:
            answered(Status.MQ_OK, gone)
        else:
            super().read_by_lookup_identifier(
                queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
            )


@fault("queue-manager-read-of-empty-subqueue-reads-its-queue", breaks="MQDMPR-3.1.1.2-21", blind=True)
class QueueManagerReadOfEmptySubqueueReadsItsQueue(MessageSearch):
    """A read of an empty subqueue returns the first message of the queue that owns the subqueue."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        for queue in self.qm.queue_names.list_every_queue() if found is None else ():
            positions = queue.MessagePositionList
            if queue.parent is not None and initial_position is positions.Start and not len(positions):
                return super().seek_available(queue.parent.MessagePositionList.Start, peek_operation, seek_direction)
        return found


class _WrongPrivateQueueNumberAssigner(QueueLifecycle):
    """Assign wrong numbers to new private queues."""

    def list_private_queue_numbers(self) -> list[int]:
        """Return the numbers of the private queues."""
        return [one.PrivateQueueNumber for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber]


@fault("queue-manager-new-private-queue-number-is-count-of-private-queues", breaks="MQDMPR-3.1.1.2-D01", blind=True)
class QueueManagerNewPrivateQueueNumberIsCountOfPrivateQueues(_WrongPrivateQueueNumberAssigner):
    """The number of a new private queue is the number of private queues plus one, so that after a deletion two queues
    can have the same number.
    """

    def _assign_private_queue_number(self) -> int:
        return (
            super()._assign_private_queue_number()
            if not self.list_private_queue_numbers()
            else len(self.list_private_queue_numbers()) + 1
        )


@fault("queue-manager-transactional-queue-has-number-of-previous-queue", breaks="MQDMPR-3.1.1.2-D01", blind=True)
class QueueManagerTransactionalQueueHasNumberOfPreviousQueue(QueueLifecycle):
    """A transactional private queue has the number of the private queue that was created before it."""

    def add(self, queue: Queue) -> None:
        before = [one.PrivateQueueNumber for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber]
        if queue.Transactional and queue.PrivateQueueNumber and before:
            queue.PrivateQueueNumber = before[-1]
        super().add(queue)


@fault("queue-manager-synchronize-added-to-supplied-access-masks", breaks="MQDMPR-3.1.1.2-08")
class QueueManagerSynchronizeAddedToSuppliedAccessMasks(QueueLifecycle):
    """The queue manager adds SYNCHRONIZE to the access masks of a security descriptor that an application supplies."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        security = super().build_security_of_new_queue(supplied, user)
        return security if supplied is None else _change_access_masks(security, lambda mask: mask | SYNCHRONIZE_RIGHT)


@fault("queue-manager-open-outgoing-queue-without-messages-not-active", breaks="MQDMPR-3.1.1.2-12")
class QueueManagerOpenOutgoingQueueWithoutMessagesNotActive(_ActiveAttributeChanger):
    """The attribute Active of an outgoing queue without messages is False, although the queue is open to send."""

    def compute_active(self, queue: Queue) -> bool:
        return queue.Active and not (isinstance(queue, OutgoingQueue) and not len(queue.session.OutgoingMessageTable))
