"""Faults that break rules of MS-MQDMPR 3.1.7.1.8 Create Transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("supplied-transaction-identifier-replaced-by-generated", breaks="MQDMPR-3.1.7.1.8-03")
class SuppliedTransactionIdentifierReplacedByGenerated(TransactionEvents):
    """The queue manager assigns a generated identifier to a new transaction instead of the identifier that its creator
    supplies.
    """

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(UUID(int=identifier.int ^ 1), single_phase)


@fault("queue-manager-identifier-of-external-transaction-ignored", breaks="MQDMPR-3.1.7.1.8-03")
class QueueManagerIdentifierOfExternalTransactionIgnored(TransactionCommands):
    """The queue manager does not use the identifier that a coordinator supplies for a transaction, but chooses a
    different one.
    """

    def begin_transaction(self, request: Any, token: int, now: Now) -> Result:
        if request.external:
            request = replace(request, transaction=None)
        return super().begin_transaction(request, token, now)


@fault("transaction-not-in-collection-before-first-operation", breaks="MQDMPR-3.1.7.1.8-04")
class TransactionNotInCollectionBeforeFirstOperation(TransactionEvents):
    """The queue manager adds a new transaction to the transaction collection only at its first operation."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._unused: dict[UUID, Transaction] = {}

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        transaction = super().create_transaction(identifier, single_phase)
        self._unused[identifier] = self.qm.adm.TransactionCollection.pop(identifier)
        return transaction

    def find_transaction(self, identifier: UUID) -> Transaction:
        if identifier in self._unused:
            self.qm.adm.TransactionCollection[identifier] = self._unused.pop(identifier)
        return super().find_transaction(identifier)


@fault("queue-manager-empty-transaction-forgotten-when-another-begins", breaks="MQDMPR-3.1.7.1.8-04")
class QueueManagerEmptyTransactionForgottenWhenAnotherBegins(TransactionCommands):
    """The queue manager forgets an open transaction without operations when another transaction begins."""

    def begin_transaction(self, request: Any, token: int, now: Now) -> Result:
        for identifier, one in list(self.qm.adm.TransactionCollection.items()):
            if not one.TransactionalOperationCollection and one.SinglePhase:
                del self.qm.adm.TransactionCollection[identifier]
        return super().begin_transaction(request, token, now)


@fault("new-transaction-removes-open-transactions-without-operations", breaks="MQDMPR-3.1.7.1.8-04")
class NewTransactionRemovesOpenTransactionsWithoutOperations(TransactionEvents):
    """A new transaction replaces the open transactions without operations in the transaction collection."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        for one in list(self.qm.adm.TransactionCollection.values()):
            if not one.TransactionalOperationCollection:
                del self.qm.adm.TransactionCollection[one.Identifier]
        return super().create_transaction(identifier, single_phase)


@fault("operations-assigned-to-first-transaction", breaks="MQDMPR-3.1.7.1.8-05")
class OperationsAssignedToFirstTransaction(TransactionEvents):
    """The queue manager assigns each operation to the transaction that began first instead of the transaction that the
    request names.
    """

    def find_transaction(self, identifier: UUID) -> Transaction:
        super().find_transaction(identifier)
        return next(iter(self.qm.adm.TransactionCollection.values()))


@fault("second-open-transaction-shares-operations-of-first", breaks="MQDMPR-3.1.7.1.8-05")
class SecondOpenTransactionSharesOperationsOfFirst(TransactionEvents):
    """A transaction that is created while another transaction is open shares the operations of the open transaction."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        others = list(self.qm.adm.TransactionCollection.values())
        created = super().create_transaction(identifier, single_phase)
        if others:
            created.TransactionalOperationCollection = others[0].TransactionalOperationCollection
        return created


@fault("queue-manager-unused-transaction-returned-to-second-creator", breaks="MQDMPR-3.1.7.1.8-05", blind=True)
class QueueManagerUnusedTransactionReturnedToSecondCreator(TransactionCommands):
    """The queue manager returns an open transaction without operations to the creator of another transaction."""

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        for transaction in self.qm.adm.TransactionCollection.values() if request.transaction is None else ():
            unused = transaction.SinglePhase and not transaction.TransactionalOperationCollection
            if unused and transaction.state is TransactionState.ACTIVE and not request.external:
                return Result({"transaction": str(transaction.Identifier)})
        return super().begin_transaction(request, token, now)
