from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import MessageClass
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState


class TransactionOperations(QueueManagerPart):
    """Records the operations of a transaction. The operations take effect when the transaction commits.

    Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.10, 3.1.7.1.16.
    """

    __slots__ = ()

    def check_accepts_operations(self, transaction: Transaction) -> None:
        """Raise CommandError unless the transaction accepts further operations."""
        if transaction.state is not TransactionState.ACTIVE:
            raise CommandError(
                f"transaction {transaction.Identifier} is {transaction.state.value} (MQ_ERROR_TRANSACTION_SEQUENCE): "
                "begin a new transaction"
            )
        limit = self.qm.config.max_transaction_operations
        if len(transaction.TransactionalOperationCollection) >= limit:
            raise CommandError(f"transaction {transaction.Identifier} already has {limit} operations: commit it")

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        """Record that a message is to be sent when the transaction commits. Spec: MS-MQDMPR 3.1.7.1.9.

        A message for a local queue gets its place in the queue now, but is Locked. A message for an outgoing queue is
        added to the queue at the commit, because MS-MQQB 3.1.7.12 applies only to available messages. All messages of a
        transaction contain the same transaction identifier (MS-MQMQ 2.2.20.5).
        """
        transaction.number = transaction.number or self.qm.message_numbering.assign_transaction_identifier()
        message = replace(
            message, TransactionIdentifier=transaction.number, FirstInTransaction=False, LastInTransaction=False
        )
        if isinstance(queue, OutgoingQueue):
            position = MessagePosition(message, queue)
        else:
            position = self.qm.message_positions.insert_message(queue, message)
            position.key = self.qm.assign_persist_token() if self.qm.disk.used else 0
        _add_operation(transaction, TransactionalOperation(OperationType.ENQUEUE, position))
        return position

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        """Lock a message, and record that the message is to be deleted when the transaction commits.

        Spec: MS-MQDMPR 3.1.7.1.10.
        """
        position.State = MessagePositionState.LOCKED
        reason = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        _add_operation(transaction, TransactionalOperation(OperationType.DEQUEUE, position, DequeueReason=reason))

    def reject(self, transaction: Transaction, queue: Queue, lookup_identifier: int) -> None:
        """Record that a received message is to be rejected when the transaction commits. Spec: MS-MQRR 3.1.4.14.

        Raise CommandError if the message was not received in the transaction, or the transaction has ended.
        """
        received = (
            operation
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.DEQUEUE
            and operation.MessagePositionReference.QueueReference is queue
            and operation.MessagePositionReference.LookupIdentifier == lookup_identifier
        )
        operation = next(received, None)
        if operation is None or transaction.state is not TransactionState.ACTIVE:
            raise CommandError(
                f"message {lookup_identifier} of {queue.Pathname} was not received in transaction "
                f"{transaction.Identifier}, or this transaction has ended (MQ_ERROR_TRANSACTION_USAGE): "
                "receive the message again"
            )
        operation.DequeueReason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        """Record that a message is to be moved when the transaction commits. Spec: MS-MQDMPR 3.1.7.1.16."""
        position.State = MessagePositionState.LOCKED
        _add_operation(transaction, TransactionalOperation(OperationType.MOVE, position, TargetQueueReference=target))

    def get_target_queue_of_move(self, operation: TransactionalOperation) -> Queue | None:
        """Return the target queue of a move, or None if the target queue was deleted. In that case the message
        stays in its queue.
        """
        return next(
            (queue for queue in self.qm.queue_names.list_every_queue() if queue is operation.TargetQueueReference), None
        )

    def find_messages_kept_by_transactions(self) -> set[MessagePosition]:
        """Return the messages that are unavailable in their queues after a crash. These are all messages that an
        uncommitted transaction would send, and the messages that a prepared transaction receives or moves.
        """
        return {
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.ENQUEUE or transaction.state is TransactionState.PREPARED
        }

    def find_messages_received_by_prepared_transactions(self) -> set[MessagePosition]:
        """Return the messages that prepared transactions receive or move. A purge of the queue deletes such a message
        only when its transaction is aborted.
        """
        return {
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            if transaction.state is TransactionState.PREPARED
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is not OperationType.ENQUEUE
        }

    def count_uncommitted_outgoing_messages(self) -> int:
        """Return the number of messages that are to be sent to other queue managers when their transactions commit."""
        return sum(
            operation.OperationType is OperationType.ENQUEUE
            and isinstance(operation.MessagePositionReference.QueueReference, OutgoingQueue)
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
        )


def _add_operation(transaction: Transaction, operation: TransactionalOperation) -> None:
    transaction.TransactionalOperationCollection.append(operation)
