"""Faults of MS-MQDMPR 3.1.4.3 Transaction Prepare, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("sender-only-message-of-transaction-not-marked-last", breaks="MQDMPR-3.1.4.3-07", blind=True)
class SenderOnlyMessageOfTransactionNotMarkedLast(TransactionEvents):
    """The sender marks the only message of a transaction as the first message, but not as the last message."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if position.MessageReference.FirstInTransaction and position.MessageReference.LastInTransaction:
                position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("queue-manager-prepare-ends-waiting-reads-of-other-transactions", breaks="MQDMPR-3.1.4.3-03", blind=True)
class QueueManagerPrepareEndsWaitingReadsOfOtherTransactions(Coordinating):
    """When the queue manager prepares one transaction, it also ends the reads that wait in other transactions."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        voted = super().prepare(transaction, single_phase, token, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._stop_waiting(other)
        return voted


@fault("queue-manager-prepare-of-receiving-transaction-refused", breaks="MQDMPR-3.1.4.3-08", blind=True)
class QueueManagerPrepareOfReceivingTransactionRefused(Coordinating):
    """The queue manager refuses to prepare a transaction that has received messages, but sent none."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        kinds = [one.OperationType for one in transaction.TransactionalOperationCollection]
        if kinds and OperationType.ENQUEUE not in kinds:
            raise CommandError(f"transaction {transaction.Identifier} has sent no message")
        return super().prepare(transaction, single_phase, token, now)
