"""Faults that break the rules MQDMPR-3.1.7.1.13-02 to MQDMPR-3.1.7.1.13-24."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.calls import change_step_arguments, change_step_result, replace_step_if
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import FormatError, parse_format_name
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from suites.mqdmpr.s3_1_7_1_13_read_message_by_lookup_identifier.fault_steps import NEXT_AND_PREVIOUS_SEEK_ACTIONS

add(
    "lookup-peek-removes-message",
    ("MQDMPR-3.1.7.1.13-02", "MQDMPR-3.1.7.1.13-11"),
    "A peek by LookupIdentifier removes the message.",
    change_step_arguments(MessageReading.read_by_lookup_identifier, peek_operation=lambda given: False),
)


add(
    "two-phase-receive-does-not-lock",
    (
        "MQDMPR-3.1.7.1.10-D05",
        "MQDMPR-3.1.7.1.11-07",
        "MQDMPR-3.1.7.1.12-13",
        "MQDMPR-3.1.7.1.13-02",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
    ),
    "Before a two-phase receive has ended, other readers can receive its message.",
    replace_step_if(
        MessageReading.take_message_out,
        lambda given: given.two_phase_read,
        lambda given: given.answered(Status.MQ_OK, given.position),
    ),
)


@fault("queue-manager-peek-of-last-message-removes-message", breaks="MQDMPR-3.1.7.1.13-02", blind=True)
class QueueManagerPeekOfLastMessageRemovesMessage(MessageReading):
    """A peek at the last message by LookupIdentifier removes the message."""

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
        peek = peek_operation and lookup_operation is not MessageSeekAction.LAST
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek, two_phase_read, transaction
        )


@fault("receive-of-last-message-by-lookup-id-leaves-message", breaks="MQDMPR-3.1.7.1.13-02")
class ReceiveOfLastMessageByLookupIdLeavesMessage(MessageReading):
    """A receive with the action SeekLast leaves its message in the queue."""

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
        peeks = peek_operation or lookup_operation is MessageSeekAction.LAST
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peeks, two_phase_read, transaction
        )


@fault("queue-manager-lookup-by-handle-of-deleted-queue-reads-new-queue", breaks="MQDMPR-3.1.7.1.13-07", blind=True)
class QueueManagerLookupByHandleOfDeletedQueueReadsNewQueue(MessageReading):
    """A read by LookupIdentifier through a handle of a deleted queue reads a new queue with the same name."""

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
        before = queue_desc.QueueReference
        if before is None:
            queue_desc.QueueReference = self._find_queue_by_name(queue_desc.FormatName)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
        queue_desc.QueueReference = before

    def _find_queue_by_name(self, name: str) -> Queue | None:
        try:
            return self.qm.queue_names.find_queue_by_format_name(parse_format_name(name))
        except FormatError:
            return self.qm.queue_names.find_queue_by_path(name)


@fault("peek-by-lookup-id-at-deleted-queue-returns-not-found", breaks="MQDMPR-3.1.7.1.13-07")
class PeekByLookupIdAtDeletedQueueReturnsNotFound(MessageReading):
    """A peek by LookupIdentifier at a deleted queue returns MQ_ERROR_MESSAGE_NOT_FOUND."""

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
        if queue_desc.QueueReference is None and peek_operation:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


add(
    "lookup-searches-first-opened-queue",
    "MQDMPR-3.1.7.1.13-09",
    "A read by LookupIdentifier searches the queue that was opened first.",
    change_step_arguments(
        MessageReading.read_by_lookup_identifier, queue_desc=lambda given: next(iter(given.qm.descriptors.values()))
    ),
)


@fault("queue-manager-lookup-finds-message-of-other-queue", breaks="MQDMPR-3.1.7.1.13-09")
class QueueManagerLookupFindsMessageOfOtherQueue(MessageSearch):
    """A read by LookupIdentifier also finds messages of other queues."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.adm.QueueCollection.values():
                if other.MessagePositionList.find(lookup_id) is not None:
                    queue = other
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("receive-by-seek-previous-searches-forward", breaks="MQDMPR-3.1.7.1.13-11")
class ReceiveBySeekPreviousSearchesForward(MessageSearch):
    """A receive with the action SeekPrevious searches for the next message instead of the previous one; a peek with
    this action searches correctly.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.PREVIOUS and not peek_operation:
            lookup_action = MessageSeekAction.NEXT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


def _get_following_message(found: MessagePosition | None) -> MessagePosition | None:
    behind = None if found is None else found.Next
    return behind if isinstance(behind, MessagePosition) else found


add(
    "lookup-returns-next-message",
    ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
    "A read by LookupIdentifier returns the content of the message after the found message.",
    change_step_result(
        MessageReading.read_by_lookup_identifier, lambda status, found: (status, _get_following_message(found))
    ),
)


@fault("queue-manager-lookup-moves-cursor-of-its-handle", breaks="MQDMPR-3.1.7.1.13-16", blind=True)
class QueueManagerLookupMovesCursorOfItsHandle(MessageReading):
    """A read by LookupIdentifier through a handle moves the cursors of the handle to the message."""

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
        def move_cursors_to_message(status: Status, position: MessagePosition | None) -> None:
            if position is not None and peek_operation:
                for cursor in queue_desc.CursorCollection.values():
                    self.qm.queue_cursors.on_message_available(cursor, position)
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc,
            lookup_id,
            lookup_operation,
            move_cursors_to_message,
            peek_operation,
            two_phase_read,
            transaction,
        )


add(
    "failed-lookup-returns-status-timeout",
    "MQDMPR-3.1.7.1.13-18",
    "A read by LookupIdentifier that finds no message returns MQ_ERROR_IO_TIMEOUT.",
    change_step_result(
        MessageReading.read_by_lookup_identifier,
        lambda status, found: (Status.MQ_ERROR_IO_TIMEOUT if found is None else status, found),
    ),
)


@fault("lookup-before-first-message-returns-last-message", breaks="MQDMPR-3.1.7.1.13-18")
class LookupBeforeFirstMessageReturnsLastMessage(MessageSearch):
    """A receive of the message before the first message returns the last message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found[1] is None and lookup_action is MessageSeekAction.PREVIOUS:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.LAST)
        return found


@fault("lookup-receive-in-transaction-does-not-lock-message", breaks=("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.13-24"))
class LookupReceiveInTransactionDoesNotLockMessage(TransactionOperations):
    """Before the commit, other readers can receive a message that a transaction receives by LookupIdentifier."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        position.State = MessagePositionState.AVAILABLE


@fault("transactional-receive-of-next-message-by-lookup-id-does-not-lock-it", breaks="MQDMPR-3.1.7.1.13-24")
class TransactionalReceiveOfNextMessageByLookupIdDoesNotLockIt(MessageReading):
    """When a transaction receives a message with the action SeekNext, the queue manager does not lock the message."""

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
        def unlock_message(status: Status, position: MessagePosition | None) -> None:
            if position is not None and transaction is not None and lookup_operation in NEXT_AND_PREVIOUS_SEEK_ACTIONS:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, unlock_message, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-in-journal-searches-parent-queue", breaks="MQDMPR-3.1.7.1.13-09", blind=True)
class QueueManagerLookupInJournalSearchesParentQueue(MessageReading):
    """A read by LookupIdentifier from the journal of a queue searches the queue itself."""

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
        queue = queue_desc.QueueReference
        if queue is not None and queue.QueueType is QueueType.SYSTEM and queue.parent is not None:
            queue_desc = replace(queue_desc, QueueReference=queue.parent)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
