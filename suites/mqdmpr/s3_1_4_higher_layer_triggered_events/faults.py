"""Faults of MS-MQDMPR 3.1.4.3 to 3.1.4.11: transactions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.events import after_events
from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import Outcome
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

# -- selection of the transaction -----------------------------------------------------------------------------------


@fault("prepare-affects-other-transactions", breaks="MQDMPR-3.1.4.3-03")
class PrepareAffectsOtherTransactions(Coordinating):
    """When one transaction is to be prepared, the queue manager prepares all transactions."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, single_phase, token, now)
        for other in self.qm.adm.TransactionCollection.values():
            if other.state is TransactionState.ACTIVE:
                other.state = TransactionState.PREPARED
        return result


@fault("coordinated-transaction-single-phase", breaks="MQDMPR-3.1.4.3-04")
class CoordinatedTransactionSinglePhase(TransactionEvents):
    """A transaction that a coordinator prepares has SinglePhase True."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, True)
        transaction.SinglePhase = True


@fault(
    "unknown-transaction-begun-when-ended",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.4-04", "MQDMPR-3.1.4.5-04", "MQDMPR-3.1.4.6-11"),
)
class UnknownTransactionBegunWhenEnded(TransactionEvents):
    """When an application requests to end an unknown transaction, the queue manager creates that transaction."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        if identifier not in self.qm.adm.TransactionCollection:
            return self.create_transaction(identifier, True)
        found: Transaction = super().find_transaction(identifier)
        return found


@fault(
    "unknown-transaction-mapped-to-last-begun",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.6-11"),
)
class UnknownTransactionMappedToLastBegun(TransactionEvents):
    """The queue manager applies a request for an unknown transaction to the transaction that was begun last."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        known = self.qm.adm.TransactionCollection
        if identifier not in known and known:
            return list(known.values())[-1]
        found: Transaction = super().find_transaction(identifier)
        return found


@fault(
    "commit-or-abort-affects-other-transactions",
    breaks=("MQDMPR-3.1.4.4-03", "MQDMPR-3.1.4.5-03"),
)
class CommitOrAbortAffectsOtherTransactions(TransactionEvents):
    """The queue manager applies the commit or the abort of one transaction to all open transactions."""

    def carry_out_outcome(self, transaction: Transaction, outcome: Outcome, now: Now) -> None:
        for one in [transaction, *self.qm.adm.TransactionCollection.values()]:
            if one.Identifier in self.qm.adm.TransactionCollection:
                super().carry_out_outcome(one, outcome, now)


# -- preparing -----------------------------------------------------------------------------------------------------


@fault("prepare-of-empty-transaction-refused", breaks=("MQDMPR-3.1.4.3-08", "MQDMPR-3.1.4.6-08"))
class PrepareOfEmptyTransactionRefused(TransactionEvents):
    """The queue manager refuses to prepare a transaction without operations."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        if not transaction.TransactionalOperationCollection:
            raise CommandError("the transaction has no operations")
        super().transaction_prepare(transaction, single_phase)


@fault("transaction-first-message-not-marked", breaks="MQDMPR-3.1.4.3-06")
class TransactionFirstMessageNotMarked(TransactionEvents):
    """The first message of a transaction has FM set only if it is also the last message."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        _mark_boundary_only_of_single_message(transaction, "FirstInTransaction", "LastInTransaction")


@fault("transaction-last-message-not-marked", breaks="MQDMPR-3.1.4.3-07")
class TransactionLastMessageNotMarked(TransactionEvents):
    """The last message of a transaction has LM set only if it is also the first message."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        _mark_boundary_only_of_single_message(transaction, "LastInTransaction", "FirstInTransaction")


def _mark_boundary_only_of_single_message(transaction: Transaction, mark: str, with_mark: str) -> None:
    cleared: dict[str, Any] = {mark: False}
    for operation in transaction.TransactionalOperationCollection:
        position = operation.MessagePositionReference
        message = position.MessageReference
        if operation.OperationType is OperationType.ENQUEUE and not getattr(message, with_mark):
            position.MessageReference = replace(message, **cleared)


@fault("prepare-without-single-phase-commits", breaks=("MQDMPR-3.1.4.6-03", "MQDMPR-3.1.4.6-08"))
class PrepareWithoutSinglePhaseCommits(Coordinating):
    """When a coordinator prepares a transaction in two phases, the queue manager commits the transaction at once."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, True, token, now)
        return result


@fault("prepare-with-single-phase-does-not-commit", breaks="MQDMPR-3.1.4.6-09")
class PrepareWithSinglePhaseDoesNotCommit(Coordinating):
    """When a coordinator prepares a transaction in a single phase, the queue manager prepares the transaction, but does
    not commit it.
    """

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, False, token, now)
        return result


# -- committing ----------------------------------------------------------------------------------------------------


@fault("commit-leaves-sent-message-locked", breaks="MQDMPR-3.1.4.4-07")
class CommitLeavesSentMessageLocked(TransactionEvents):
    """After the commit, the queue manager keeps a message that was sent to a local queue in the transaction locked."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_enqueue(operation, now)
        position = operation.MessagePositionReference
        after_events(self.qm, lambda: setattr(position, "State", MessagePositionState.LOCKED))


@fault("message-sent-in-transaction-visible-before-commit", breaks="MQDMPR-3.1.4.4-07")
class MessageSentInTransactionVisibleBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive a message that a transaction sent to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        self.qm.positions.message_available(position)
        return position


@fault("commit-removes-received-message-without-reason", breaks=("MQDMPR-3.1.4.4-11", "MQDMPR-3.1.4.7-03"))
class CommitRemovesReceivedMessageWithoutReason(TransactionEvents):
    """When a transaction commits, the queue manager removes a message that the transaction received, but passes no
    reason for the removal; so the message is not acknowledged.
    """

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.DequeueReason = MessageClass.MQMSG_CLASS_NORMAL
        super().commit_dequeue(operation, now)


@fault("coordinator-commit-restores-received-message", breaks="MQDMPR-3.1.4.7-03")
class CoordinatorCommitRestoresReceivedMessage(TransactionEvents):
    """At the commit, the queue manager returns a message that a coordinator's transaction received to its queue."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        in_doubt = self.qm.adm.TransactionCollection.values()
        mine = [one for one in in_doubt if operation in one.TransactionalOperationCollection]
        if any(not one.SinglePhase for one in mine):
            self.qm.positions.unlock_message(operation.MessagePositionReference)
        else:
            super().commit_dequeue(operation, now)


@fault("commit-does-not-move-message", breaks=("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-18"))
class CommitDoesNotMoveMessage(TransactionEvents):
    """At the commit, the queue manager leaves a message that the transaction moved in its source queue."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.positions.unlock_message(operation.MessagePositionReference)


@fault("commit-copies-moved-message", breaks="MQDMPR-3.1.4.4-16")
class CommitCopiesMovedMessage(TransactionEvents):
    """At the commit, the queue manager copies a message that the transaction moved, so the message is in
    both queues.
    """

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        message, queue = position.MessageReference, position.QueueReference
        super().commit_move(operation, now)
        self.qm.positions.message_available(self.qm.positions.insert_message(queue, message))


@fault("commit-moves-message-to-front", breaks="MQDMPR-3.1.4.4-18")
class CommitMovesMessageToFront(Positions):
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


@fault("commit-leaves-moved-message-locked", breaks=("MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-19"))
class CommitLeavesMovedMessageLocked(Positions):
    """At the commit, the queue manager leaves a message that the transaction moved locked in the target queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        in_transaction = position.State is MessagePositionState.LOCKED
        moved: MessagePosition | None = super().move_message(position, queue)
        if moved is not None and in_transaction:
            moved.State = MessagePositionState.LOCKED
        return moved


@fault("committed-transaction-stays-open", breaks="MQDMPR-3.1.4.4-23")
class CommittedTransactionStaysOpen(TransactionEvents):
    """The queue manager accepts further operations in a committed transaction."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        super().transaction_commit(transaction, now)
        _clear_operations(self.qm, transaction)


@fault("aborted-transaction-stays-open", breaks="MQDMPR-3.1.4.5-19")
class AbortedTransactionStaysOpen(TransactionEvents):
    """The queue manager accepts further operations in an aborted transaction."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        _clear_operations(self.qm, transaction)


def _clear_operations(qm: QueueManager, transaction: Transaction) -> None:
    transaction.TransactionalOperationCollection.clear()
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("committed-transaction-can-be-undone", breaks="MQDMPR-3.1.4.4-22")
class CommittedTransactionCanBeUndone(TransactionEvents):
    """A committed transaction keeps its operations and can be aborted."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        super().transaction_commit(transaction, now)
        _can_be_ended_again(self.qm, transaction)

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.DELETED:
            position = self.qm.positions.insert_message(position.QueueReference, position.MessageReference)
            self.qm.positions.message_available(position)
        else:
            super().abort_dequeue(operation, now)


@fault("aborted-transaction-can-be-committed", breaks="MQDMPR-3.1.4.5-18")
class AbortedTransactionCanBeCommitted(TransactionEvents):
    """An aborted transaction keeps its operations and can be committed."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        _can_be_ended_again(self.qm, transaction)


def _can_be_ended_again(qm: QueueManager, transaction: Transaction) -> None:
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("commit-answered-as-prepared", breaks=("MQDMPR-3.1.4.4-24", "MQDMPR-3.1.4.7-05"))
class CommitAnsweredAsPrepared(Coordinating):
    """The queue manager answers a commit with the state prepared."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: Outcome) -> Result:
        decided: Result = super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": "prepared"}) if outcome is Outcome.COMMITTED else decided


@fault("abort-reported-as-committed", breaks=("MQDMPR-3.1.4.5-20", "MQDMPR-3.1.4.8-05"))
class AbortReportedAsCommitted(Coordinating):
    """The queue manager answers an abort with the state committed."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: Outcome) -> Result:
        super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": Outcome.COMMITTED.value})


# -- aborting ------------------------------------------------------------------------------------------------------


@fault("abort-leaves-messages-locked", breaks=("MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.8-03"))
class AbortLeavesMessagesLocked(TransactionEvents):
    """At an abort, the queue manager leaves the messages that the transaction received or moved locked."""

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


@fault("abort-restores-purged-message", breaks="MQDMPR-3.1.4.5-08")
class AbortRestoresPurgedMessage(TransactionEvents):
    """At an abort, the queue manager returns a message that was purged after the transaction received it."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.MessagePositionReference.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("abort-stores-sent-message", breaks="MQDMPR-3.1.4.5-17")
class AbortStoresSentMessage(TransactionEvents):
    """After an abort, an application can receive a message that the transaction sent to a local queue."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.commit_enqueue(operation, now)


@fault("commit-ends-reads-of-other-transactions", breaks="MQDMPR-3.1.4.4-03")
class CommitEndsReadsOfOtherTransactions(Coordinating):
    """A commit ends the reads that wait in other transactions."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        result: Result | None = super().commit(transaction, token, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._stop_waiting(other)
        return result


@fault("abort-ends-reads-of-other-transactions", breaks="MQDMPR-3.1.4.5-03")
class AbortEndsReadsOfOtherTransactions(Coordinating):
    """An abort ends the reads that wait in other transactions."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        result: Result | None = super().abort(transaction, token)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._stop_waiting(other)
        return result
