"""Faults of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.model.transactions import Transaction, TransactionState
from reference_qm.surface.commands import Result


@fault("queue-manager-abort-of-prepared-not-answered", breaks="MQDMPR-3.1.4.8-05", blind=True)
class QueueManagerAbortOfPreparedNotAnswered(Coordinating):
    """The queue manager does not answer the coordinator that a prepared transaction is aborted."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if transaction.state is TransactionState.PREPARED:
            super().abort(transaction, None)
            return None
        return super().abort(transaction, token)
