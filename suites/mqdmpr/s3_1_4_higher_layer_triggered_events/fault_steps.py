"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessagePosition
from reference_qm.model.transactions import OperationType, Transaction, TransactionState


def reopen_transaction_without_operations(qm: QueueManager, transaction: Transaction) -> None:
    """Delete the operations of a transaction that has ended, and make the transaction active again."""
    transaction.TransactionalOperationCollection.clear()
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


def reopen_transaction(qm: QueueManager, transaction: Transaction) -> None:
    """Make a transaction that has ended active again, with its operations."""
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


ENQUEUE_OPERATION = OperationType.ENQUEUE


DEQUEUE_OPERATION = OperationType.DEQUEUE


MOVE_OPERATION = OperationType.MOVE


def list_sent_messages_of_transaction(transaction: Transaction) -> list[MessagePosition]:
    """Return the positions of the messages that a transaction sends."""
    return [
        one.MessagePositionReference
        for one in transaction.TransactionalOperationCollection
        if one.OperationType is ENQUEUE_OPERATION
    ]
