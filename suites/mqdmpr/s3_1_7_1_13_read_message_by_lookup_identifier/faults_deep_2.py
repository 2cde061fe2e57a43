"""Further faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier: actions other than SeekCurrent."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction

NEIGHBOR_ACTIONS = (MessageSeekAction.NEXT, MessageSeekAction.PREVIOUS)


@fault("receive-of-last-message-by-lookup-id-leaves-message", breaks="MQDMPR-3.1.7.1.13-02")
class ReceiveOfLastMessageByLookupIdLeavesMessage(Reading):
    """A receive with the action SeekLast leaves its message in the queue."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        peeks = peek_operation or lookup_operation is MessageSeekAction.LAST
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peeks, two_phase_read, transaction
        )


@fault("peek-by-lookup-id-at-deleted-queue-returns-not-found", breaks="MQDMPR-3.1.7.1.13-07")
class PeekByLookupIdAtDeletedQueueReturnsNotFound(Reading):
    """A peek by LookupIdentifier at a deleted queue returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
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


@fault("lookup-before-first-message-returns-last-message", breaks="MQDMPR-3.1.7.1.13-18")
class LookupBeforeFirstMessageReturnsLastMessage(Seeking):
    """A receive of the message before the first message returns the last message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found[1] is None and lookup_action is MessageSeekAction.PREVIOUS:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.LAST)
        return found


@fault("transactional-receive-of-next-message-by-lookup-id-does-not-lock-it", breaks="MQDMPR-3.1.7.1.13-24")
class TransactionalReceiveOfNextMessageByLookupIdDoesNotLockIt(Reading):
    """When a transaction receives a message with the action SeekNext, the queue manager does not lock the message."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        def unlock_message(status: Status, position: MessagePosition | None) -> None:
            if position is not None and transaction is not None and lookup_operation in NEIGHBOR_ACTIONS:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, unlock_message, peek_operation, two_phase_read, transaction
        )


@fault("two-phase-receive-of-first-message-by-lookup-id-does-not-lock-it", breaks="MQDMPR-3.1.7.1.13-32")
class TwoPhaseReceiveOfFirstMessageByLookupIdDoesNotLockIt(Reading):
    """When a reader begins a two-phase receive with the action SeekFirst, the queue manager does not
    lock the message.
    """

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        def unlock_message(status: Status, position: MessagePosition | None) -> None:
            first = lookup_operation is MessageSeekAction.FIRST
            if position is not None and two_phase_read and first and not peek_operation:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, unlock_message, peek_operation, two_phase_read, transaction
        )


@fault("operation-of-second-receive-by-lookup-id-precedes-first-operation", breaks="MQDMPR-3.1.7.1.13-29")
class OperationOfSecondReceiveByLookupIdPrecedesFirstOperation(TransactionOperations):
    """Each receive inserts its operation before the earlier operations of its transaction."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        operations.insert(0, operations.pop())


@fault("lookup-in-queue-finds-first-message-with-foreign-identifier", breaks="MQDMPR-3.1.7.1.13-11")
class LookupInQueueFindsFirstMessageWithForeignIdentifier(Seeking):
    """A receive with the action SeekPrevious searches for the next message instead of the previous one; a peek with
    this action searches correctly.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.PREVIOUS and not peek_operation:
            lookup_action = MessageSeekAction.NEXT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
