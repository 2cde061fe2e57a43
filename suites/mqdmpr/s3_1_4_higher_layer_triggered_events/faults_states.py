"""Faults that break rules of MS-MQDMPR 3.1.4. Each fault breaks one transition of the table states.toml. The author of
the faults knew the section, but not the checks.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now

QUEUE_PURGED_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


def _is_message_purged(operation: TransactionalOperation) -> bool:
    return operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING


@fault("commit-after-purge-drops-sent-message", breaks="MQDMPR-3.1.4.4-07")
class CommitAfterPurgeDropsSentMessage(TransactionEvents):
    """If the queue was purged after the send, a commit deletes the message that the transaction sent."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        if _is_message_purged(operation):
            self.qm.message_positions.delete_message(operation.MessagePositionReference, QUEUE_PURGED_NACK_CLASS)
        else:
            super().commit_enqueue(operation, now)


@fault("commit-after-purge-acknowledges-received-message-as-purged", breaks="MQDMPR-3.1.4.4-11")
class CommitAfterPurgeAcknowledgesReceivedMessageAsPurged(TransactionEvents):
    """If the queue was purged after the receive, a commit acknowledges the received message as purged."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if _is_message_purged(operation):
            self.qm.message_positions.delete_message(operation.MessagePositionReference, QUEUE_PURGED_NACK_CLASS)
        else:
            super().commit_dequeue(operation, now)


@fault("commit-after-purge-drops-moved-message", breaks="MQDMPR-3.1.4.4-17")
class CommitAfterPurgeDropsMovedMessage(TransactionEvents):
    """If the queue was purged after the move, a commit deletes the message that the transaction moved."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        if _is_message_purged(operation):
            self.qm.message_positions.delete_message(operation.MessagePositionReference, QUEUE_PURGED_NACK_CLASS)
        else:
            super().commit_move(operation, now)


@fault("abort-of-prepared-transaction-carries-out-moves", breaks="MQDMPR-3.1.4.8-03")
class AbortOfPreparedTransactionCarriesOutMoves(TransactionEvents):
    """The abort of a coordinator's transaction carries out the moves of the transaction."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if not transaction.SinglePhase:
            operations = transaction.TransactionalOperationCollection
            moves = [one for one in operations if one.OperationType is OperationType.MOVE]
            for one in moves:
                self.commit_move(one, now)
                operations.remove(one)
        super().transaction_abort(transaction, now)
