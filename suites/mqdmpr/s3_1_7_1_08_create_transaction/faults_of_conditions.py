"""Faults that break the rule MQDMPR-3.1.7.1.8-03 only under certain conditions."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction


@fault("queue-manager-identifier-of-second-open-transaction-changed", breaks="MQDMPR-3.1.7.1.8-03", blind=True)
class QueueManagerIdentifierOfSecondOpenTransactionChanged(TransactionEvents):
    """The queue manager changes the supplied identifier of a transaction if another transaction is open."""

    def create_transaction(self, identifier: UUID, single_phase: bool = True) -> Transaction:
        if self.qm.adm.TransactionCollection:
            identifier = UUID(int=identifier.int ^ 1)
        return super().create_transaction(identifier, single_phase)


@fault("queue-manager-identifier-of-external-transaction-changed", breaks="MQDMPR-3.1.7.1.8-03", blind=True)
class QueueManagerIdentifierOfExternalTransactionChanged(TransactionEvents):
    """The queue manager changes the supplied identifier of a transaction with an external coordinator."""

    def create_transaction(self, identifier: UUID, single_phase: bool = True) -> Transaction:
        return super().create_transaction(identifier if single_phase else UUID(int=identifier.int ^ 1), single_phase)


@fault("queue-manager-sets-uuid-version-of-transaction-identifier-to-4", breaks="MQDMPR-3.1.7.1.8-03", blind=True)
class QueueManagerSetsUuidVersionOfTransactionIdentifierTo4(TransactionEvents):
    """The queue manager sets the version of the supplied identifier of a transaction to 4."""

    def create_transaction(self, identifier: UUID, single_phase: bool = True) -> Transaction:
        return super().create_transaction(UUID(int=identifier.int, version=4), single_phase)
