"""Faults that break rules of MS-MQDMPR 3.1.7.1.8 Create Transaction."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.model.transactions import TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-unused-transaction-returned-to-second-creator", breaks="MQDMPR-3.1.7.1.8-05", blind=True)
class QueueManagerUnusedTransactionReturnedToSecondCreator(TransactionCommands):
    """The queue manager returns an open transaction without operations to the creator of another transaction."""

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        for transaction in self.qm.adm.TransactionCollection.values() if request.transaction is None else ():
            unused = transaction.SinglePhase and not transaction.TransactionalOperationCollection
            if unused and transaction.state is TransactionState.ACTIVE and not request.external:
                return Result({"transaction": str(transaction.Identifier)})
        return super().begin_transaction(request, token, now)
