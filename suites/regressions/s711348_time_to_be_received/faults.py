"""Faults that reproduce the bug that Microsoft page ms711348 describes: TimeToBeReceived of the first message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.transactions import OperationType, Transaction


@fault("regression-711348-time-to-be-received-of-first-message", breaks="REGRESSIONS-711348-01")
class Regression711348TimeToBeReceivedOfFirstMessage(TransactionOperations):
    """The sender assigns the TimeToBeReceived of the first message to all messages of a transaction."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.ENQUEUE:
                first = operation.MessagePositionReference.MessageReference
                message = replace(message, TimeToBeReceived=first.TimeToBeReceived)
                break
        return super().enqueue_in_transaction(transaction, queue, message)


@fault("regression-711348-local-messages-get-lifetime-of-first-message", breaks="REGRESSIONS-711348-01", blind=True)
class Regression711348LocalMessagesGetLifetimeOfFirstMessage(TransactionOperations):
    """The queue manager assigns the TimeToBeReceived of the first message to all messages that a transaction sends to a
    local queue.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.ENQUEUE and not isinstance(queue, OutgoingQueue):
                first = operation.MessagePositionReference.MessageReference
                message = replace(message, TimeToBeReceived=first.TimeToBeReceived)
                break
        return super().enqueue_in_transaction(transaction, queue, message)
