"""Steps that several fault files of this section share."""

from __future__ import annotations

from dataclasses import replace

from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.transactions import Transaction


class LastTransactionOperationChanger(TransactionOperations):
    """Change the last operation of a transaction."""

    def change_last_operation(self, transaction: Transaction, **values: object) -> None:
        operations = transaction.TransactionalOperationCollection
        operations[-1] = replace(operations[-1], **values)  # type: ignore[arg-type]
