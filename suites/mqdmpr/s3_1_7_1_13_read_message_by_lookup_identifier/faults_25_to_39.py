"""Faults that break the rules MQDMPR-3.1.7.1.13-25 to MQDMPR-3.1.7.1.13-39."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.calls import change_step_arguments, replace_step_status
from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.messages import POSITIVE_RECEIVE_FLAG
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from suites.mqdmpr.s3_1_7_1_13_read_message_by_lookup_identifier.fault_steps import NEXT_AND_PREVIOUS_SEEK_ACTIONS


@fault(
    "lookup-receive-in-transaction-deletes-message-before-commit",
    breaks=("MQDMPR-3.1.7.1.10-D04", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29"),
)
class LookupReceiveInTransactionDeletesMessageBeforeCommit(TransactionOperations):
    """The queue manager deletes a message that a transaction receives by LookupIdentifier at once, even if the
    transaction is later aborted.
    """

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operation = transaction.TransactionalOperationCollection.pop()
        assert operation.DequeueReason is not None
        self.qm.message_positions.delete_message(position, operation.DequeueReason)


add(
    "queue-manager-transactional-lookup-of-last-message-takes-effect-at-once",
    "MQDMPR-3.1.7.1.13-25",
    "A receive of the last message of a queue by LookupIdentifier takes effect at once, even in a transaction.",
    change_step_arguments(
        MessageReading.read_by_lookup_identifier,
        transaction=lambda given: None if given.lookup_operation is MessageSeekAction.LAST else given.transaction,
    ),
    blind=True,
)


@fault("queue-manager-receive-of-neighbor-message-left-out-of-transaction", breaks="MQDMPR-3.1.7.1.13-25")
class QueueManagerReceiveOfNeighborMessageLeftOutOfTransaction(MessageReading):
    """A receive of the next or previous message by LookupIdentifier takes effect at once, even in a transaction."""

    @faulty_only_if(
        lambda part, queue_desc, lookup_id, lookup_operation, *more, **named: (
            lookup_operation in NEXT_AND_PREVIOUS_SEEK_ACTIONS
        )
    )
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
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, None
        )


@fault("queue-manager-receive-from-subqueue-left-out-of-transaction", breaks="MQDMPR-3.1.7.1.13-25", blind=True)
class QueueManagerReceiveFromSubqueueLeftOutOfTransaction(MessageReading):
    """A receive by LookupIdentifier from a subqueue takes effect at once, even in a transaction."""

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
        if queue is not None and queue.parent is not None:
            transaction = None
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-receive-operation-listed-first", breaks="MQDMPR-3.1.7.1.13-29")
class QueueManagerLookupReceiveOperationListedFirst(MessageReading):
    """A receive by LookupIdentifier inserts its operation before the earlier operations of its transaction."""

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
        known = 0 if transaction is None else len(transaction.TransactionalOperationCollection)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
        if transaction is not None and len(transaction.TransactionalOperationCollection) > known:
            operations = transaction.TransactionalOperationCollection
            operations.insert(0, operations.pop())


@fault("transaction-receive-operation-inserted-before-earlier-operations", breaks="MQDMPR-3.1.7.1.13-29")
class TransactionReceiveOperationInsertedBeforeEarlierOperations(TransactionOperations):
    """Each receive inserts its operation before the earlier operations of its transaction."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        operations.insert(0, operations.pop())


@fault("two-phase-receive-of-first-message-by-lookup-id-does-not-lock-it", breaks="MQDMPR-3.1.7.1.13-32")
class TwoPhaseReceiveOfFirstMessageByLookupIdDoesNotLockIt(MessageReading):
    """When a reader begins a two-phase receive with the action SeekFirst, the queue manager does not
    lock the message.
    """

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
            first = lookup_operation is MessageSeekAction.FIRST
            if position is not None and two_phase_read and first and not peek_operation:
                position.State = MessagePositionState.AVAILABLE
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, unlock_message, peek_operation, two_phase_read, transaction
        )


@fault("receiver-does-not-acknowledge-lookup-receive-of-later-message", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class ReceiverDoesNotAcknowledgeLookupReceiveOfLaterMessage(MessageReading):
    """The receiver does not acknowledge a message as received if it is received by LookupIdentifier while earlier
    messages are in the queue.
    """

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
        if queue is not None and not (peek_operation or two_phase_read or transaction):
            found = self.qm.message_search.seek_with_identifier(queue, lookup_id, False, lookup_operation)[1]
            if found is not None and found is not queue.MessagePositionList.Head:
                message = found.MessageReference
                wanted = message.AcknowledgementsRequested & ~POSITIVE_RECEIVE_FLAG
                found.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-message-received-by-lookup-restored-at-restart", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class QueueManagerMessageReceivedByLookupRestoredAtRestart(MessageReading):
    """After a restart, the queue manager restores a message that was received by LookupIdentifier."""

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
        if queue is not None and transaction is None and not peek_operation and not two_phase_read:
            for one in queue.MessagePositionList:
                one.key = 0
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-receive-loses-application-tag", breaks="MQDMPR-3.1.7.1.13-38")
class QueueManagerLookupReceiveLosesApplicationTag(MessageReading):
    """A receive by LookupIdentifier returns the message without its application tag."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        if position is not position.QueueReference.MessagePositionList.Head or transaction is not None:
            position.MessageReference = replace(position.MessageReference, AppSpecific=0)
        super().take_message_out(position, transaction, two_phase_read, answered)


add(
    "successful-lookup-returns-status-not-found",
    ("MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03"),
    "A read by LookupIdentifier returns its message with MQ_ERROR_MESSAGE_NOT_FOUND.",
    replace_step_status(MessageReading.read_by_lookup_identifier, Status.MQ_ERROR_MESSAGE_NOT_FOUND),
)


@fault("queue-manager-lookup-of-first-message-returns-not-found", breaks="MQDMPR-3.1.7.1.13-39", blind=True)
class QueueManagerLookupOfFirstMessageReturnsNotFound(MessageReading):
    """A read with the lookup operation SeekFirst that finds a message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

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
        def answer_first_as_not_found(status: Status, position: MessagePosition | None) -> None:
            if lookup_operation is MessageSeekAction.FIRST and status is Status.MQ_OK:
                answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            else:
                answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc,
            lookup_id,
            lookup_operation,
            answer_first_as_not_found,
            peek_operation,
            two_phase_read,
            transaction,
        )
