"""Faults in the creation of transactions while other transactions are open, or with an identifier that the creator
supplies.
"""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.transactions import OperationType, Transaction


@fault("queue-manager-new-transaction-replaces-unused-transaction", breaks="MQDMPR-3.1.7.1.8-04", blind=True)
class QueueManagerNewTransactionReplacesUnusedTransaction(TransactionEvents):
    """When the queue manager adds a transaction to the collection, it removes the transactions without operations."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        made = super().create_transaction(identifier, single_phase)
        for one in [*self.qm.adm.TransactionCollection.values()]:
            if one is not made and not one.TransactionalOperationCollection:
                del self.qm.adm.TransactionCollection[one.Identifier]
        return made


@fault("queue-manager-third-transaction-not-in-collection", breaks="MQDMPR-3.1.7.1.8-04", blind=True)
class QueueManagerThirdTransactionNotInCollection(TransactionEvents):
    """While two transactions are open, the queue manager does not add a new transaction to its collection."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        open_count = len(self.qm.adm.TransactionCollection)
        made = super().create_transaction(identifier, single_phase)
        if open_count >= 2:
            del self.qm.adm.TransactionCollection[identifier]
        return made


@fault("queue-manager-returns-open-transaction-instead-of-new-one", breaks="MQDMPR-3.1.7.1.8-05", blind=True)
class QueueManagerReturnsOpenTransactionInsteadOfNewOne(TransactionEvents):
    """While a transaction is open, the queue manager returns this transaction to the creator of a new one."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        first = next(iter(self.qm.adm.TransactionCollection.values()), None)
        made = super().create_transaction(identifier, single_phase)
        return made if first is None else first


@fault("queue-manager-refuses-send-in-transaction-after-receive", breaks="MQDMPR-3.1.7.1.8-05", blind=True)
class QueueManagerRefusesSendInTransactionAfterReceive(TransactionOperations):
    """In a transaction in which a message was received, no message can be sent."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        if OperationType.DEQUEUE in kinds:
            raise CommandError("the transaction has received a message")
        return super().enqueue_in_transaction(transaction, queue, message)
