"""Faults that break rules of MS-MQDMPR 3.1.7.1.16 Move Message, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction


@fault("queue-manager-carries-out-moves-of-transaction-at-prepare", breaks="MQDMPR-3.1.7.1.16-D03", blind=True)
class QueueManagerCarriesOutMovesOfTransactionAtPrepare(TransactionEvents):
    """When an external transaction is prepared, the queue manager already puts the messages that the transaction moves
    into their target queues.
    """

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, single_phase)
        if single_phase:
            return
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.MOVE and position.State is MessagePositionState.LOCKED:
                target = self.qm.transaction_operations.get_target_queue_of_move(operation)
                if target is not None:
                    self.qm.message_positions.move_message(position, target)
