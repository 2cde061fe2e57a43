"""Faults of MS-MQDMPR 3.1.7.1.8 Create Transaction."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction


@fault("transaction-supplied-identifier-ignored", breaks="MQDMPR-3.1.7.1.8-03")
class TransactionSuppliedIdentifierIgnored(TransactionEvents):
    """The queue manager assigns a generated identifier to a new transaction instead of the identifier that its creator
    supplies.
    """

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(UUID(int=identifier.int ^ 1), single_phase)


@fault("transaction-not-listed-before-use", breaks="MQDMPR-3.1.7.1.8-04")
class TransactionNotListedBeforeUse(TransactionEvents):
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


@fault("operations-assigned-to-first-transaction", breaks="MQDMPR-3.1.7.1.8-05")
class OperationsAssignedToFirstTransaction(TransactionEvents):
    """The queue manager assigns each operation to the transaction that began first instead of the transaction that the
    request names.
    """

    def find_transaction(self, identifier: UUID) -> Transaction:
        super().find_transaction(identifier)
        return next(iter(self.qm.adm.TransactionCollection.values()))
