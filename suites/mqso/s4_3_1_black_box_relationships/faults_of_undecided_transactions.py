"""Faults with which a queue manager decides an external transaction without its coordinator."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.model.transactions import OperationType, Transaction, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-external-transaction-without-sends-committed-at-prepare", breaks="MQSO-4.3.1.2-02", blind=True)
class QueueManagerExternalTransactionWithoutSendsCommittedAtPrepare(TransactionCoordinating):
    """If an external transaction only receives messages, the queue manager commits the transaction as soon as it is
    prepared.
    """

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        return super().prepare(transaction, single_phase or kinds == {OperationType.DEQUEUE}, token, now)


@fault("queue-manager-prepared-transaction-committed-at-restart", breaks="MQSO-4.3.1.2-02", blind=True)
class QueueManagerPreparedTransactionCommittedAtRestart(QueueManagerInitialization):
    """After a restart, the queue manager commits the external transactions that it prepared before."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            if transaction.state is TransactionState.PREPARED:
                self.qm.transaction_coordinating.commit(transaction, 0, now)
