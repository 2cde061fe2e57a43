from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import UUID

from reference_qm.core.errors import CommandError
from reference_qm.core.events import MessageArrived, SessionMaySend, TransactionOutcome
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now


class TransactionEvents(QueueManagerPart):
    """Begins, prepares, commits and aborts transactions. Spec: MS-MQDMPR 3.1.7.1.8, 3.1.4.3, 3.1.4.4, 3.1.4.5."""

    __slots__ = ()

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        """Create a transaction. Spec: MS-MQDMPR 3.1.7.1.8; MS-MQMP 3.1.4.14 (new identifier).

        Raise CommandError if the transaction already exists, or if the maximum number of transactions is open.
        """
        if identifier in self.qm.adm.TransactionCollection:
            raise CommandError(
                f"transaction {identifier} already exists (MQ_ERROR_TRANSACTION_SEQUENCE): use a different identifier"
            )
        if len(self.qm.adm.TransactionCollection) >= self.qm.config.max_transactions:
            raise CommandError(
                f"{self.qm.config.max_transactions} transactions are already open: commit or abort one of them"
            )
        transaction = self.qm.adm.TransactionCollection[identifier] = Transaction(identifier, single_phase)
        return transaction

    def find_transaction(self, identifier: UUID) -> Transaction:
        """Find a transaction; raise CommandError if the transaction is unknown.

        Spec: MS-MQDMPR 3.1.4.3, 3.1.4.4, 3.1.4.5.
        """
        transaction = self.qm.adm.TransactionCollection.get(identifier)
        if transaction is None:
            raise CommandError(
                f"this queue manager has no transaction {identifier} (MQ_ERROR_TRANSACTION_SEQUENCE): begin it first"
            )
        return transaction

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        """Prepare a transaction for its commit. Spec: MS-MQDMPR 3.1.4.3."""
        transaction.SinglePhase = single_phase
        self.mark_first_and_last_message(transaction)

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        """Mark the first and the last message that a transaction sends to each queue. Spec: MS-MQDMPR 3.1.4.3,
        3.1.1.12.

        3.1.4.3 marks the first and the last operation of the whole transaction, even if this operation is a
        dequeue. 3.1.1.12 marks the first and the last message within a sequence, which has one destination. MS-MQMQ
        2.2.20.5 marks the first and the last message that is sent. For a transaction with one destination, the
        three definitions agree. Here the messages to each queue are marked separately, so that every receiver
        recognizes the end of the transaction.
        """
        sent: dict[Queue, list[MessagePosition]] = {}
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.ENQUEUE:
                position = operation.MessagePositionReference
                sent.setdefault(position.QueueReference, []).append(position)
        for positions in sent.values():
            for position in positions:
                position.MessageReference = replace(
                    position.MessageReference,
                    FirstInTransaction=position is positions[0],
                    LastInTransaction=position is positions[-1],
                )

    def carry_out_outcome(self, transaction: Transaction, outcome: TransactionOutcome, now: Now) -> None:
        """Commit or abort the operations of a transaction whose outcome is decided. If the outcome must be on disk, the
        caller has already written it. Spec: MS-MQDMPR 3.1.4.4, 3.1.4.5.
        """
        end = self.transaction_commit if outcome is TransactionOutcome.COMMITTED else self.transaction_abort
        end(transaction, now)

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        """Carry out the operations of a transaction, in order. Spec: MS-MQDMPR 3.1.4.4."""
        for operation in transaction.TransactionalOperationCollection:
            _COMMIT_HANDLER_BY_OPERATION_TYPE[operation.OperationType](self)(operation, now)
        self._remove_transaction(transaction)

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        """Make a sent message available in its local queue, or send it. Spec: MS-MQDMPR 3.1.4.4, MS-MQQB 3.1.7.12.

        A message to a local queue becomes available at once: operations are carried out in order, and a waiting read
        must get the first message. An outgoing message was already put into its queue when its record was passed to the
        disk (``coordinating``), so the order in the queue does not depend on which record reaches the disk first.
        """
        position = operation.MessagePositionReference
        if isinstance(position.QueueReference, OutgoingQueue):
            position.is_disk_write_pending = False
            self.qm.post_event(SessionMaySend(position.QueueReference.session))
        elif position.State is not MessagePositionState.DELETED:
            self.qm.post_event(MessageArrived(position))
            self.qm.message_positions.on_message_available(position)

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        """Delete a message that was received in the transaction. Spec: MS-MQDMPR 3.1.4.4.

        A message that was purged after it was received in the transaction also counts as received.
        """
        assert operation.DequeueReason is not None
        self.qm.message_positions.delete_message(operation.MessagePositionReference, operation.DequeueReason)

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        """Put a moved message at the end of its target queue. Spec: MS-MQDMPR 3.1.4.4."""
        position, target = (
            operation.MessagePositionReference,
            self.qm.transaction_operations.get_target_queue_of_move(operation),
        )
        if target is None:
            self.qm.message_positions.unlock_message(position)
        elif position.State is not MessagePositionState.DELETED:
            self.qm.message_positions.move_message(position, target)

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        """Undo the operations of a transaction. Spec: MS-MQDMPR 3.1.4.5."""
        for operation in transaction.TransactionalOperationCollection:
            _ABORT_HANDLER_BY_OPERATION_TYPE[operation.OperationType](self)(operation, now)
        self._remove_transaction(transaction)

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        """Remove a message that the aborted transaction was to send. No event reports the removal, so no acknowledgment
        is sent. Spec: MS-MQDMPR 3.1.4.5.
        """
        position = operation.MessagePositionReference
        position.QueueReference.MessagePositionList.remove(position)

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        """Make a received message available again at its old place, unless its queue was purged. Spec: MS-MQDMPR
        3.1.4.5.

        The document deletes a purged message with the reason of the dequeue, so that the sender would be told that the
        message was received. This method uses the purge as the reason, as 3.1.7.1.12 does.
        """
        self.qm.message_positions.unlock_message(operation.MessagePositionReference)

    def _remove_transaction(self, transaction: Transaction) -> None:
        del self.qm.adm.TransactionCollection[transaction.Identifier]


OperationHandler = Callable[[TransactionEvents], Callable[[TransactionalOperation, Now], None]]

_COMMIT_HANDLER_BY_OPERATION_TYPE: Mapping[OperationType, OperationHandler] = {
    OperationType.ENQUEUE: lambda part: part.commit_enqueue,
    OperationType.DEQUEUE: lambda part: part.commit_dequeue,
    OperationType.MOVE: lambda part: part.commit_move,
}


_ABORT_HANDLER_BY_OPERATION_TYPE: Mapping[OperationType, OperationHandler] = {
    OperationType.ENQUEUE: lambda part: part.abort_enqueue,
    OperationType.DEQUEUE: lambda part: part.abort_dequeue,
    OperationType.MOVE: lambda part: part.abort_dequeue,
}
