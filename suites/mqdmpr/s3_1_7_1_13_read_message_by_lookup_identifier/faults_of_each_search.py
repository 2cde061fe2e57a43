"""Faults of reads by LookupIdentifier that concern some lookup actions, read a wrong queue, or change the order of
operations.
"""

from __future__ import annotations

from harness.faults.neighbouring_reads import find_queue_of_same_name
from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction

FIRST_AND_LAST_SEEK_ACTIONS = (MessageSeekAction.FIRST, MessageSeekAction.LAST)


class LookupReadChanger(MessageReading):
    """A part of the queue manager that changes some reads by LookupIdentifier; a subclass selects which."""

    def answer_lookup_with_changed_result(
        self, queue_desc: OpenQueueDescriptor, operation: MessageSeekAction, answered: OnReadAnswered, peek: bool
    ) -> bool:
        """If the fault applies to a read, answer the read wrongly and return True; otherwise return False."""
        raise NotImplementedError

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
        if not self.answer_lookup_with_changed_result(queue_desc, lookup_operation, answered, peek_operation):
            super().read_by_lookup_identifier(
                queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
            )


@fault("queue-manager-two-phase-lookup-receive-does-not-lock-next-message", breaks="MQDMPR-3.1.7.1.13-04", blind=True)
class QueueManagerTwoPhaseLookupReceiveDoesNotLockNextMessage(MessageReading):
    """A two-phase receive of the next or the previous message by LookupIdentifier does not lock the message."""

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
        def unlock_message_and_answer(status: Status, position: MessagePosition | None) -> None:
            if position is not None:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        beside = lookup_operation is not MessageSeekAction.CURRENT
        changed = unlock_message_and_answer if two_phase_read and beside and not peek_operation else answered
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, changed, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-message-received-by-lookup-returned-to-end", breaks="MQDMPR-3.1.7.1.13-04", blind=True)
class QueueManagerMessageReceivedByLookupReturnedToEnd(MessageReading):
    """A two-phase receive by LookupIdentifier moves the message behind the other messages of its priority."""

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
        def move_message_to_end_and_answer(status: Status, position: MessagePosition | None) -> None:
            if position is not None and not position.reader_hold_count:
                positions = position.QueueReference.MessagePositionList
                positions.remove(position)
                positions.insert(position)
                position.State = MessagePositionState.LOCKED
            answered(status, position)

        changed = move_message_to_end_and_answer if two_phase_read and not peek_operation else answered
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, changed, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-peek-at-deleted-queue-returns-not-found", breaks="MQDMPR-3.1.7.1.13-07", blind=True)
class QueueManagerLookupPeekAtDeletedQueueReturnsNotFound(LookupReadChanger):
    """A peek by LookupIdentifier at a queue that was deleted after it was opened returns
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

    def answer_lookup_with_changed_result(
        self, queue_desc: OpenQueueDescriptor, operation: MessageSeekAction, answered: OnReadAnswered, peek: bool
    ) -> bool:
        wrong = queue_desc.QueueReference is None and peek
        if wrong:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
        return wrong


@fault("queue-manager-seek-read-of-deleted-queue-returns-not-found", breaks="MQDMPR-3.1.7.1.13-07", blind=True)
class QueueManagerSeekReadOfDeletedQueueReturnsNotFound(LookupReadChanger):
    """A read of the first, last, next or previous message of a queue that was deleted after it was opened returns
    MQ_ERROR_MESSAGE_NOT_FOUND.
    """

    def answer_lookup_with_changed_result(
        self, queue_desc: OpenQueueDescriptor, operation: MessageSeekAction, answered: OnReadAnswered, peek: bool
    ) -> bool:
        wrong = queue_desc.QueueReference is None and operation is not MessageSeekAction.CURRENT
        if wrong:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
        return wrong


@fault("queue-manager-lookup-in-deleted-queue-reads-recreated-queue", breaks="MQDMPR-3.1.7.1.13-07", blind=True)
class QueueManagerLookupInDeletedQueueReadsRecreatedQueue(LookupReadChanger):
    """If a queue is deleted and created again after an application opened it, a read by LookupIdentifier with the old
    handle reads from the new queue.
    """

    def answer_lookup_with_changed_result(
        self, queue_desc: OpenQueueDescriptor, operation: MessageSeekAction, answered: OnReadAnswered, peek: bool
    ) -> bool:
        if queue_desc.QueueReference is None:
            queue_desc.QueueReference = find_queue_of_same_name(self.qm, queue_desc)
        return False


@fault("queue-manager-lookup-reads-message-of-another-queue", breaks="MQDMPR-3.1.7.1.13-09", blind=True)
class QueueManagerLookupReadsMessageOfAnotherQueue(MessageSearch):
    """If the opened queue has no message with the LookupIdentifier, the queue manager reads the message with this
    LookupIdentifier from another queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action not in FIRST_AND_LAST_SEEK_ACTIONS and queue.MessagePositionList.find(lookup_id) is None:
            other = (one for one in self.qm.queue_names.list_every_queue() if one.MessagePositionList.find(lookup_id))
            queue = next(other, queue)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-seek-read-of-journal-or-subqueue-reads-parent-queue", breaks="MQDMPR-3.1.7.1.13-09", blind=True)
class QueueManagerSeekReadOfJournalOrSubqueueReadsParentQueue(MessageSearch):
    """A read of the first or last message of a journal or a subqueue reads from the queue that it belongs to."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action in FIRST_AND_LAST_SEEK_ACTIONS and queue.parent is not None:
            queue = queue.parent
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


class TransactionOperationOrderChanger(MessageReading):
    """A part of the queue manager that runs a change after each receive by LookupIdentifier in a transaction."""

    def change_order_of_operations(self, transaction: Transaction) -> None:
        raise NotImplementedError

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
        before = 0 if transaction is None else len(transaction.TransactionalOperationCollection)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
        if transaction is not None and len(transaction.TransactionalOperationCollection) > before:
            self.change_order_of_operations(transaction)


@fault("queue-manager-lookup-receive-operation-listed-before-last", breaks="MQDMPR-3.1.7.1.13-29", blind=True)
class QueueManagerLookupReceiveOperationListedBeforeLast(TransactionOperationOrderChanger):
    """From the third operation of a transaction on, a receive by LookupIdentifier inserts its operation one place too
    early.
    """

    def change_order_of_operations(self, transaction: Transaction) -> None:
        operations = transaction.TransactionalOperationCollection
        if len(operations) > 2:
            operations[-2:] = [operations[-1], operations[-2]]


@fault("queue-manager-second-lookup-receive-replaces-first-of-transaction", breaks="MQDMPR-3.1.7.1.13-29", blind=True)
class QueueManagerSecondLookupReceiveReplacesFirstOfTransaction(TransactionOperationOrderChanger):
    """The operation of a receive by LookupIdentifier replaces the earlier receive of its transaction."""

    def change_order_of_operations(self, transaction: Transaction) -> None:
        operations = transaction.TransactionalOperationCollection
        receives = [one for one in operations if one.OperationType is OperationType.DEQUEUE]
        if len(receives) > 1:
            operations.remove(receives[0])
            operations[operations.index(receives[-1])] = receives[-1]


@fault("queue-manager-lookup-receive-does-not-delete-last-message", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class QueueManagerLookupReceiveDoesNotDeleteLastMessage(MessageReading):
    """A receive by LookupIdentifier with the action SeekLast or SeekPrevious leaves its message in the queue."""

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
        backward = lookup_operation in (MessageSeekAction.LAST, MessageSeekAction.PREVIOUS)
        stays = backward and transaction is None and not two_phase_read
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation or stays, two_phase_read, transaction
        )


@fault("queue-manager-acknowledges-lookup-receive-of-first-message-as-purge", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class QueueManagerAcknowledgesLookupReceiveOfFirstMessageAsPurge(MessageReading):
    """A message that a receive by LookupIdentifier finds with SeekFirst or SeekNext is acknowledged as purged."""

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
        def acknowledge_purge_and_answer(status: Status, position: MessagePosition | None) -> None:
            if position is not None:
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
            answered(status, position)

        forward = lookup_operation in (MessageSeekAction.FIRST, MessageSeekAction.NEXT)
        if forward and transaction is None and not two_phase_read and not peek_operation:
            super().read_by_lookup_identifier(
                queue_desc, lookup_id, lookup_operation, acknowledge_purge_and_answer, True
            )
            return
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
