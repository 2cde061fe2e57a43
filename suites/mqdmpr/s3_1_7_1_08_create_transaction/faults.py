"""Faults of MS-MQDMPR 3.1.7.1.8 Create Transaction."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction


@fault("transaction-identifier-made-anew", breaks="MQDMPR-3.1.7.1.8-03")
class IdentifierMadeAnew(TransactionEvents):
    """A transaction gets an identifier of its own, whichever was asked for."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(UUID(int=identifier.int ^ 1), single_phase)


@fault("transaction-listed-when-used", breaks="MQDMPR-3.1.7.1.8-04")
class ListedWhenUsed(TransactionEvents):
    """A transaction is not among those of the queue manager before something is done within it."""

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


@fault("transaction-of-another-used", breaks="MQDMPR-3.1.7.1.8-05")
class OfAnotherUsed(TransactionEvents):
    """What is done within any transaction is done within the one that began first."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        super().find_transaction(identifier)
        return next(iter(self.qm.adm.TransactionCollection.values()))
