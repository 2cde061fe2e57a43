"""Faults that break the rules MQDMPR-3.1.4.4-17 to MQDMPR-3.1.4.5-13."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.disk import Change
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_4_higher_layer_triggered_events.fault_steps import (
    MOVE_OPERATION,
    list_sent_messages_of_transaction,
    reopen_transaction,
    reopen_transaction_without_operations,
)


@fault("commit-leaves-moved-message-locked", breaks=("MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-19"))
class CommitLeavesMovedMessageLocked(MessagePositions):
    """After the commit, a message that the transaction moved stays locked in the target queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        in_transaction = position.State is MessagePositionState.LOCKED
        moved: MessagePosition | None = super().move_message(position, queue)
        if moved is not None and in_transaction:
            moved.State = MessagePositionState.LOCKED
        return moved


@fault("commit-carries-out-first-move-only", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitCarriesOutFirstMoveOnly(TransactionEvents):
    """At a commit, the queue manager moves only the first of several messages that the transaction moves."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE_OPERATION]
        for one in moves[1:]:
            transaction.TransactionalOperationCollection.remove(one)
            self.qm.message_positions.unlock_message(one.MessagePositionReference)
        super().transaction_commit(transaction, now)


@fault("commit-moves-all-messages-to-first-target", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitMovesAllMessagesToFirstTarget(TransactionEvents):
    """At a commit, the queue manager moves all messages of the transaction to the subqueue of its first move."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE_OPERATION]
        for one in moves[1:]:
            one.TargetQueueReference = moves[0].TargetQueueReference
        super().transaction_commit(transaction, now)


@fault("commit-of-move-drops-extension", breaks="MQDMPR-3.1.4.4-17", blind=True)
class CommitOfMoveDropsExtension(TransactionEvents):
    """When a commit moves a message, the queue manager drops the extension and the application tag of the message."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        position.MessageReference = replace(position.MessageReference, Extension=b"", AppSpecific=0)
        super().commit_move(operation, now)


@fault("commit-puts-moved-message-at-front-of-target-queue", breaks="MQDMPR-3.1.4.4-18")
class CommitPutsMovedMessageAtFrontOfTargetQueue(MessagePositions):
    """At the commit, the queue manager inserts a message that the transaction moved as the first message of the target
    queue.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        before = list(queue.MessagePositionList)
        moved: MessagePosition | None = super().move_message(position, queue)
        for one in before:
            queue.MessagePositionList.remove(one)
            queue.MessagePositionList.insert(one)
        return moved


@fault("queue-manager-commit-orders-moved-message-by-lookup-identifier", breaks="MQDMPR-3.1.4.4-18")
class QueueManagerCommitOrdersMovedMessageByLookupIdentifier(TransactionEvents):
    """A commit inserts a moved message before the messages of the target queue that have a higher LookupIdentifier."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_move(operation, now)
        target = operation.TargetQueueReference
        if target is None:
            return
        later = [
            one
            for one in target.MessagePositionList
            if one.LookupIdentifier > operation.MessagePositionReference.LookupIdentifier
        ]
        for one in later:
            target.MessagePositionList.remove(one)
            again = MessagePosition(one.MessageReference, target, LookupIdentifier=one.LookupIdentifier)
            again.key, again.order_queue = one.key, one.order_queue
            target.MessagePositionList.insert(again)
            again.State = MessagePositionState.AVAILABLE


@fault("committed-moves-in-reverse-order", breaks="MQDMPR-3.1.4.4-18", blind=True)
class CommittedMovesInReverseOrder(TransactionEvents):
    """When a commit moves several messages, the queue manager inserts them into the target queue in reverse order."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE_OPERATION]
        others = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is not MOVE_OPERATION
        ]
        transaction.TransactionalOperationCollection[:] = [*others, *reversed(moves)]
        super().transaction_commit(transaction, now)


def _is_operation_in_two_phase_transaction(part: TransactionEvents, operation: TransactionalOperation) -> bool:
    units = part.qm.adm.TransactionCollection.values()
    return any(operation in unit.TransactionalOperationCollection and not unit.SinglePhase for unit in units)


@fault("queue-manager-commit-after-prepare-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.4-19")
class QueueManagerCommitAfterPrepareLeavesMovedMessageLocked(TransactionEvents):
    """A message that a prepared transaction moved stays locked in its target queue after the commit."""

    @faulty_only_if(lambda part, operation, now: _is_operation_in_two_phase_transaction(part, operation))
    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_move(operation, now)
        target = operation.TargetQueueReference
        for one in target.MessagePositionList if target is not None else ():
            if one.LookupIdentifier == operation.MessagePositionReference.LookupIdentifier:
                one.State = MessagePositionState.LOCKED


@fault("committed-transaction-can-be-aborted", breaks="MQDMPR-3.1.4.4-22")
class CommittedTransactionCanBeAborted(TransactionEvents):
    """A committed transaction keeps its operations and can be aborted."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        super().transaction_commit(transaction, now)
        reopen_transaction(self.qm, transaction)

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.DELETED:
            position = self.qm.message_positions.insert_message(position.QueueReference, position.MessageReference)
            self.qm.message_positions.on_message_available(position)
        else:
            super().abort_dequeue(operation, now)


@fault("committed-transaction-stays-open", breaks="MQDMPR-3.1.4.4-23")
class CommittedTransactionStaysOpen(TransactionEvents):
    """The queue manager accepts further operations in a committed transaction."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        super().transaction_commit(transaction, now)
        reopen_transaction_without_operations(self.qm, transaction)


@fault("queue-manager-committed-transaction-in-doubt-after-restart", breaks="MQDMPR-3.1.4.4-23")
class QueueManagerCommittedTransactionInDoubtAfterRestart(TransactionRecords):
    """After a restart, the queue manager treats a prepared transaction that was already committed as a transaction in
    doubt.
    """

    def build_commit_record(self, transaction: Transaction) -> Change:
        change = super().build_commit_record(transaction)
        return {name: value for name, value in change.items() if not name.startswith("transaction:")}


@fault("queue-manager-receive-in-ended-transaction-carried-out", breaks="MQDMPR-3.1.4.4-23")
class QueueManagerReceiveInEndedTransactionCarriedOut(TransactionCommands):
    """A receive that names a committed transaction succeeds outside of any transaction."""

    def find_transaction_of_request(self, identifier: Any) -> Transaction | None:
        try:
            return super().find_transaction_of_request(identifier)
        except CommandError:
            if identifier in self.qm.adm.TransactionCollection:
                raise
            return None


@fault("committed-transaction-still-listed", breaks="MQDMPR-3.1.4.4-23", blind=True)
class CommittedTransactionStillListed(TransactionEvents):
    """The queue manager keeps a committed transaction that sent no message in its list of transactions."""

    def _remove_transaction(self, transaction: Transaction) -> None:
        super()._remove_transaction(transaction)
        if not list_sent_messages_of_transaction(transaction):
            transaction.state = TransactionState.ENDING
            self.qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("commit-answered-as-prepared", breaks=("MQDMPR-3.1.4.4-24", "MQDMPR-3.1.4.7-05"))
class CommitAnsweredAsPrepared(TransactionCoordinating):
    """The queue manager answers a commit with the state prepared."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: TransactionOutcome) -> Result:
        decided: Result = super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": "prepared"}) if outcome is TransactionOutcome.COMMITTED else decided


@fault("queue-manager-commit-refused-when-queue-of-operation-is-deleted", breaks="MQDMPR-3.1.4.4-24")
class QueueManagerCommitRefusedWhenQueueOfOperationIsDeleted(TransactionCoordinating):
    """The queue manager refuses to commit a transaction if the queue of one of the transaction's
    messages was deleted.
    """

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        known = list(self.qm.queue_names.list_every_queue())
        for operation in transaction.TransactionalOperationCollection:
            queue = operation.MessagePositionReference.QueueReference
            if not isinstance(queue, OutgoingQueue) and queue not in known:
                raise CommandError("a queue of the transaction was deleted: abort the transaction")
        return super().commit(transaction, token, now)


@fault("commit-of-transaction-without-operations-refused", breaks="MQDMPR-3.1.4.4-24", blind=True)
class CommitOfTransactionWithoutOperationsRefused(TransactionCoordinating):
    """The queue manager refuses to commit a prepared transaction without operations."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        if not transaction.SinglePhase and not transaction.TransactionalOperationCollection:
            raise CommandError("the transaction has no operations: abort it")
        return super().commit(transaction, token, now)


@fault("abort-ends-reads-of-other-transactions", breaks="MQDMPR-3.1.4.5-03")
class AbortEndsReadsOfOtherTransactions(TransactionCoordinating):
    """An abort ends the reads that wait in other transactions."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        result: Result | None = super().abort(transaction, token)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._reject_reads_waiting_in_transaction(other)
        return result


@fault("queue-manager-abort-of-committed-transaction-succeeds", breaks="MQDMPR-3.1.4.5-04")
class QueueManagerAbortOfCommittedTransactionSucceeds(TransactionCommands):
    """The queue manager returns success when an application aborts a transaction that has already ended."""

    def abort_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            return Result({"outcome": TransactionOutcome.ABORTED.value})
        return super().abort_transaction(request, token, now)


@fault("abort-restores-purged-message", breaks="MQDMPR-3.1.4.5-08")
class AbortRestoresPurgedMessage(TransactionEvents):
    """At an abort, the queue manager returns a message that was purged after the transaction received it."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.MessagePositionReference.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("queue-manager-abort-returns-moved-message-that-was-purged", breaks="MQDMPR-3.1.4.5-08")
class QueueManagerAbortReturnsMovedMessageThatWasPurged(TransactionEvents):
    """If a message that a transaction has moved is purged, the abort of the transaction returns the message to its
    queue.
    """

    @faulty_only_if(lambda part, operation, now: operation.OperationType is OperationType.MOVE)
    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING:
            operation.MessagePositionReference.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("queue-manager-abort-returns-second-received-message-that-was-purged", breaks="MQDMPR-3.1.4.5-08")
class QueueManagerAbortReturnsSecondReceivedMessageThatWasPurged(TransactionEvents):
    """If several messages that a transaction has received are purged, the abort removes only the first of them."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        purged = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if one.MessagePositionReference.State is MessagePositionState.PURGE_PENDING
        ]
        for position in purged[1:]:
            position.State = MessagePositionState.LOCKED
        super().transaction_abort(transaction, now)


@fault("abort-leaves-messages-locked", breaks=("MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.8-03"))
class AbortLeavesMessagesLocked(TransactionEvents):
    """After an abort, the messages that the transaction received or moved stay locked."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if operation.MessagePositionReference.State is not MessagePositionState.LOCKED:
            super().abort_dequeue(operation, now)


@fault("abort-restores-message-at-end", breaks="MQDMPR-3.1.4.5-13")
class AbortRestoresMessageAtEnd(TransactionEvents):
    """At an abort, the queue manager puts a message that the transaction received or moved at the end of its queue."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)
            position.QueueReference.MessagePositionList.insert(position)
        super().abort_dequeue(operation, now)


@fault("queue-manager-aborted-receive-changes-lookup-identifier", breaks="MQDMPR-3.1.4.5-13")
class QueueManagerAbortedReceiveChangesLookupIdentifier(TransactionEvents):
    """At an abort, a message that the transaction received returns to its queue with a new LookupIdentifier."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        super().abort_dequeue(operation, now)
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.AVAILABLE:
            identifiers = position.QueueReference.MessagePositionList._by_identifier
            identifiers.pop(position.LookupIdentifier, None)
            position.LookupIdentifier = self.qm.message_positions.assign_lookup_identifier(position.MessageReference)
            identifiers[position.LookupIdentifier] = position


@fault("queue-manager-aborted-receive-completes-no-waiting-read", breaks="MQDMPR-3.1.4.5-13")
class QueueManagerAbortedReceiveCompletesNoWaitingRead(TransactionEvents):
    """A message that an abort returns to its queue does not complete a read that waits for a message."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.LOCKED:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
            return
        super().abort_dequeue(operation, now)


@fault("abort-leaves-third-received-message-locked", breaks="MQDMPR-3.1.4.5-13")
class AbortLeavesThirdReceivedMessageLocked(TransactionEvents):
    """At an abort, the queue manager does not return the third and later messages that the transaction received."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        for one in received[2:]:
            transaction.TransactionalOperationCollection.remove(one)
        super().transaction_abort(transaction, now)


@fault("queue-manager-coordinator-abort-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.8-03", blind=True)
class QueueManagerCoordinatorAbortLeavesMovedMessageLocked(TransactionEvents):
    """When a coordinator aborts a transaction, the queue manager does not undo the moves."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection = [
                one
                for one in transaction.TransactionalOperationCollection
                if one.OperationType is not OperationType.MOVE
            ]
        super().transaction_abort(transaction, now)
