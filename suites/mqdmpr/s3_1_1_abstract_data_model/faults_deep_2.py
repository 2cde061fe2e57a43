"""Faults of MS-MQDMPR 3.1.1.13 TransactionalOperation with several operations in one transaction."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.transactions import OperationType, Transaction


class _Second(TransactionOperations):
    """Change the last operation of a transaction."""

    def change_last(self, transaction: Transaction, **values: object) -> None:
        operations = transaction.TransactionalOperationCollection
        operations[-1] = replace(operations[-1], **values)  # type: ignore[arg-type]


@fault("transaction-operation-of-second-enqueue-type-dequeue", breaks="MQDMPR-3.1.1.13-03")
class TransactionOperationOfSecondEnqueueTypeDequeue(_Second):
    """The queue manager records the second message that is sent in a transaction as an operation of type Dequeue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        operations = transaction.TransactionalOperationCollection
        if sum(one.OperationType is OperationType.ENQUEUE for one in operations) == 2:
            self.change_last(transaction, OperationType=OperationType.DEQUEUE)
        return position


@fault("transaction-operation-of-outgoing-enqueue-type-move", breaks="MQDMPR-3.1.1.13-03")
class TransactionOperationOfOutgoingEnqueueTypeMove(_Second):
    """The queue manager records a message that is sent to another computer as an operation of type Move."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if isinstance(queue, OutgoingQueue):
            self.change_last(transaction, OperationType=OperationType.MOVE)
        return position


@fault("transaction-operation-of-dequeue-after-enqueue-type-enqueue", breaks="MQDMPR-3.1.1.13-04")
class TransactionOperationOfDequeueAfterEnqueueTypeEnqueue(_Second):
    """The queue manager records a receive as an operation of type Enqueue, if the transaction has sent a message."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        if any(one.OperationType is OperationType.ENQUEUE for one in operations):
            self.change_last(transaction, OperationType=OperationType.ENQUEUE)


@fault("transaction-operation-of-second-move-type-dequeue", breaks="MQDMPR-3.1.1.13-05")
class TransactionOperationOfSecondMoveTypeDequeue(_Second):
    """The queue manager records the second move in a transaction as an operation of type Dequeue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        moves = [one for one in transaction.TransactionalOperationCollection if one.TargetQueueReference is not None]
        if len(moves) == 2:
            self.change_last(transaction, OperationType=OperationType.DEQUEUE)


@fault("transaction-operation-of-second-move-target-of-first", breaks="MQDMPR-3.1.1.13-06")
class TransactionOperationOfSecondMoveTargetOfFirst(_Second):
    """The queue manager records the target of the first move of a transaction for each later move."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        moves = [one for one in transaction.TransactionalOperationCollection if one.TargetQueueReference is not None]
        self.change_last(transaction, TargetQueueReference=moves[0].TargetQueueReference)


@fault("transaction-operation-of-enqueue-after-dequeue-has-reason", breaks="MQDMPR-3.1.1.13-07")
class TransactionOperationOfEnqueueAfterDequeueHasReason(_Second):
    """The queue manager records a DequeueReason for a message that is sent after a receive."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        received = any(one.DequeueReason for one in transaction.TransactionalOperationCollection)
        position = super().enqueue_in_transaction(transaction, queue, message)
        if received:
            self.change_last(transaction, DequeueReason=MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        return position


@fault("transaction-operation-of-second-dequeue-without-reason", breaks="MQDMPR-3.1.1.13-07")
class TransactionOperationOfSecondDequeueWithoutReason(_Second):
    """The queue manager records no DequeueReason for the second receive of a transaction."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        if sum(one.OperationType is OperationType.DEQUEUE for one in operations) == 2:
            self.change_last(transaction, DequeueReason=None)
