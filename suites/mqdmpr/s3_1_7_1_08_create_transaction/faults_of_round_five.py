"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.8 Create Transaction."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction, TransactionState


@fault("queue-manager-transaction-beside-prepared-one-not-added", breaks="MQDMPR-3.1.7.1.8-04", blind=True)
class QueueManagerTransactionBesidePreparedOneNotAdded(TransactionEvents):
    """The queue manager does not add a new transaction to its TransactionCollection while another transaction is
    prepared.
    """

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        created = super().create_transaction(identifier, single_phase)
        known = self.qm.adm.TransactionCollection
        if any(one.state is TransactionState.PREPARED for one in known.values()):
            del known[identifier]
        return created
