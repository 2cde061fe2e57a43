"""Faults of MS-MQDMPR 3.1.1.1 QueueManager in which only some elements are wrong."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.disk import Change
from reference_qm.model.adm import Message
from reference_qm.model.transactions import Transaction


@fault("sequential-id-of-each-eighth-message-repeated", breaks="MQDMPR-3.1.1.1-D04", blind=True)
class SequentialIdOfEachEighthMessageRepeated(MessagePositions):
    """The queue manager does not increment SequentialID for every eighth message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def assign_lookup_identifier(self, message: Message) -> int:
        self.count += 1
        if self.count % 8 == 0:
            self.qm.adm.SequentialID -= 1
        return super().assign_lookup_identifier(message)


@fault("second-voted-transaction-lost-at-restart", breaks="MQDMPR-3.1.1.1-D03", blind=True)
class SecondVotedTransactionLostAtRestart(TransactionRecords):
    """The queue manager saves only the first transaction for which it voted, and loses the others at a restart."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.votes = 0

    def build_prepare_record(self, transaction: Transaction) -> Change:
        self.votes += 1
        change: Change = super().build_prepare_record(transaction)
        return change if self.votes == 1 else {}


@fault("voted-transaction-without-operations-lost-at-restart", breaks="MQDMPR-3.1.1.1-D03", blind=True)
class VotedTransactionWithoutOperationsLostAtRestart(TransactionRecords):
    """The queue manager does not save a transaction for which it voted if the transaction has no operations."""

    def build_prepare_record(self, transaction: Transaction) -> Change:
        return super().build_prepare_record(transaction) if transaction.TransactionalOperationCollection else {}
