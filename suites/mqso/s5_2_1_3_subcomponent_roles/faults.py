"""Faults that break rules of MS-MQSO 5.2.1.3 Subcomponent Roles."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import Transaction


@fault("internal-transaction-needs-vote", breaks="MQSO-5.2.1.3-D01")
class InternalTransactionNeedsVote(TransactionEvents):
    """Each transaction waits for the votes of a coordinator."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        return super().create_transaction(identifier, False)
