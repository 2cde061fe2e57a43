"""Faults that break the rules MQDMPR-3.1.4.3-03 to MQDMPR-3.1.4.4-16."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.events import call_after_posted_events
from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_4_higher_layer_triggered_events.fault_steps import (
    DEQUEUE_OPERATION,
    MOVE_OPERATION,
    list_sent_messages_of_transaction,
)


@fault("prepare-of-one-transaction-prepares-all-transactions", breaks="MQDMPR-3.1.4.3-03")
class PrepareOfOneTransactionPreparesAllTransactions(TransactionCoordinating):
    """When one transaction is to be prepared, the queue manager prepares all transactions."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, single_phase, token, now)
        for other in self.qm.adm.TransactionCollection.values():
            if other.state is TransactionState.ACTIVE:
                other.state = TransactionState.PREPARED
        return result


@fault("queue-manager-prepare-ends-waiting-reads-of-other-transactions", breaks="MQDMPR-3.1.4.3-03", blind=True)
class QueueManagerPrepareEndsWaitingReadsOfOtherTransactions(TransactionCoordinating):
    """When the queue manager prepares one transaction, it also ends the reads that wait in other transactions."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        voted = super().prepare(transaction, single_phase, token, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._reject_reads_waiting_in_transaction(other)
        return voted


@fault("coordinated-transaction-has-single-phase-true", breaks="MQDMPR-3.1.4.3-04")
class CoordinatedTransactionHasSinglePhaseTrue(TransactionEvents):
    """A transaction that a coordinator prepares has SinglePhase True."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, True)
        transaction.SinglePhase = True


@fault(
    "queue-manager-creates-unknown-transaction-when-asked-to-end-it",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.4-04", "MQDMPR-3.1.4.5-04", "MQDMPR-3.1.4.6-11"),
)
class QueueManagerCreatesUnknownTransactionWhenAskedToEndIt(TransactionEvents):
    """When an application requests to end an unknown transaction, the queue manager creates that transaction."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        if identifier not in self.qm.adm.TransactionCollection:
            return self.create_transaction(identifier, True)
        found: Transaction = super().find_transaction(identifier)
        return found


@fault(
    "request-for-unknown-transaction-applied-to-last-begun-one",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.6-11"),
)
class RequestForUnknownTransactionAppliedToLastBegunOne(TransactionEvents):
    """The queue manager applies a request for an unknown transaction to the transaction that was begun last."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        known = self.qm.adm.TransactionCollection
        if identifier not in known and known:
            return list(known.values())[-1]
        found: Transaction = super().find_transaction(identifier)
        return found


@fault("prepare-of-unknown-transaction-aborts-open-transactions", breaks="MQDMPR-3.1.4.3-05", blind=True)
class PrepareOfUnknownTransactionAbortsOpenTransactions(TransactionCommands):
    """When the queue manager refuses to prepare an unknown transaction, it aborts the open external transactions."""

    def prepare_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            self.qm.transaction_coordinating.abort_undecided_transactions()
        return super().prepare_transaction(request, token, now)


def _clear_transaction_boundary_flag_unless_other_is_set(transaction: Transaction, mark: str, with_mark: str) -> None:
    cleared: dict[str, Any] = {mark: False}
    for operation in transaction.TransactionalOperationCollection:
        position = operation.MessagePositionReference
        message = position.MessageReference
        if operation.OperationType is OperationType.ENQUEUE and not getattr(message, with_mark):
            position.MessageReference = replace(message, **cleared)


@fault("transaction-first-of-several-messages-not-marked-first", breaks="MQDMPR-3.1.4.3-06")
class TransactionFirstOfSeveralMessagesNotMarkedFirst(TransactionEvents):
    """The first message of a transaction has FM set only if it is also the last message."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        _clear_transaction_boundary_flag_unless_other_is_set(transaction, "FirstInTransaction", "LastInTransaction")


@fault("transaction-that-begins-with-receive-has-no-message-marked-first", breaks="MQDMPR-3.1.4.3-06", blind=True)
class TransactionThatBeginsWithReceiveHasNoMessageMarkedFirst(TransactionEvents):
    """The sender marks no message of a transaction as the first if the transaction received a message of the same queue
    manager before it sent a message.
    """

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        if transaction.TransactionalOperationCollection[:1] and (
            transaction.TransactionalOperationCollection[0].OperationType is DEQUEUE_OPERATION
        ):
            for position in list_sent_messages_of_transaction(transaction):
                position.MessageReference = replace(position.MessageReference, FirstInTransaction=False)


@fault("transaction-last-of-several-messages-not-marked-last", breaks="MQDMPR-3.1.4.3-07")
class TransactionLastOfSeveralMessagesNotMarkedLast(TransactionEvents):
    """The last message of a transaction has LM set only if it is also the first message."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        _clear_transaction_boundary_flag_unless_other_is_set(transaction, "LastInTransaction", "FirstInTransaction")


@fault("sender-only-message-of-transaction-not-marked-last", breaks="MQDMPR-3.1.4.3-07", blind=True)
class SenderOnlyMessageOfTransactionNotMarkedLast(TransactionEvents):
    """The sender marks the only message of a transaction as the first message, but not as the last message."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if position.MessageReference.FirstInTransaction and position.MessageReference.LastInTransaction:
                position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("transaction-that-ends-with-receive-has-no-message-marked-last", breaks="MQDMPR-3.1.4.3-07", blind=True)
class TransactionThatEndsWithReceiveHasNoMessageMarkedLast(TransactionEvents):
    """The sender marks no message of a transaction as the last if the last operation of the transaction receives a
    message.
    """

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        if transaction.TransactionalOperationCollection[-1:] and (
            transaction.TransactionalOperationCollection[-1].OperationType is DEQUEUE_OPERATION
        ):
            for position in list_sent_messages_of_transaction(transaction):
                position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("external-transaction-last-message-not-marked-last", breaks="MQDMPR-3.1.4.3-07", blind=True)
class ExternalTransactionLastMessageNotMarkedLast(TransactionEvents):
    """The sender does not mark the last message of a transaction with a coordinator as the last."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        for position in [] if transaction.SinglePhase else list_sent_messages_of_transaction(transaction):
            position.MessageReference = replace(position.MessageReference, LastInTransaction=False)


@fault("prepare-of-empty-transaction-refused", breaks=("MQDMPR-3.1.4.3-08", "MQDMPR-3.1.4.6-08"))
class PrepareOfEmptyTransactionRefused(TransactionEvents):
    """The queue manager refuses to prepare a transaction without operations."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        if not transaction.TransactionalOperationCollection:
            raise CommandError("the transaction has no operations")
        super().transaction_prepare(transaction, single_phase)


@fault("queue-manager-prepare-of-receiving-transaction-refused", breaks="MQDMPR-3.1.4.3-08", blind=True)
class QueueManagerPrepareOfReceivingTransactionRefused(TransactionCoordinating):
    """The queue manager refuses to prepare a transaction that has received messages, but sent none."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        kinds = [one.OperationType for one in transaction.TransactionalOperationCollection]
        if kinds and OperationType.ENQUEUE not in kinds:
            raise CommandError(f"transaction {transaction.Identifier} has sent no message")
        return super().prepare(transaction, single_phase, token, now)


@fault("prepare-refused-while-other-transaction-is-prepared", breaks="MQDMPR-3.1.4.3-08", blind=True)
class PrepareRefusedWhileOtherTransactionIsPrepared(TransactionCoordinating):
    """The queue manager refuses to prepare a transaction while another transaction is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        if any(one.state is TransactionState.PREPARED for one in self.qm.adm.TransactionCollection.values()):
            raise CommandError("another transaction is prepared: wait for its outcome")
        return super().prepare(transaction, single_phase, token, now)


@fault("prepare-refused-for-transaction-with-move", breaks="MQDMPR-3.1.4.3-08", blind=True)
class PrepareRefusedForTransactionWithMove(TransactionCoordinating):
    """The queue manager refuses to prepare a transaction that moves a message."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        if any(one.OperationType is MOVE_OPERATION for one in transaction.TransactionalOperationCollection):
            raise CommandError("the transaction moves a message: abort it")
        return super().prepare(transaction, single_phase, token, now)


@fault(
    "commit-or-abort-applied-to-all-open-transactions",
    breaks=("MQDMPR-3.1.4.4-03", "MQDMPR-3.1.4.5-03"),
)
class CommitOrAbortAppliedToAllOpenTransactions(TransactionEvents):
    """The queue manager applies the commit or the abort of one transaction to all open transactions."""

    def carry_out_outcome(self, transaction: Transaction, outcome: TransactionOutcome, now: Now) -> None:
        for one in [transaction, *self.qm.adm.TransactionCollection.values()]:
            if one.Identifier in self.qm.adm.TransactionCollection:
                super().carry_out_outcome(one, outcome, now)


@fault("commit-ends-reads-of-other-transactions", breaks="MQDMPR-3.1.4.4-03")
class CommitEndsReadsOfOtherTransactions(TransactionCoordinating):
    """A commit ends the reads that wait in other transactions."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        result: Result | None = super().commit(transaction, token, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            self._reject_reads_waiting_in_transaction(other)
        return result


@fault("refused-commit-of-unknown-transaction-ends-waiting-reads", breaks="MQDMPR-3.1.4.4-04", blind=True)
class RefusedCommitOfUnknownTransactionEndsWaitingReads(TransactionCommands):
    """When the queue manager refuses to commit an unknown transaction, it ends the reads that wait in transactions."""

    def commit_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            for one in list(self.qm.adm.TransactionCollection.values()):
                self.qm.transaction_coordinating._reject_reads_waiting_in_transaction(one)
        return super().commit_transaction(request, token, now)


@fault("commit-leaves-sent-message-locked", breaks="MQDMPR-3.1.4.4-07")
class CommitLeavesSentMessageLocked(TransactionEvents):
    """After the commit, a message that the transaction sent to a local queue stays locked."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_enqueue(operation, now)
        position = operation.MessagePositionReference
        call_after_posted_events(self.qm, lambda: setattr(position, "State", MessagePositionState.LOCKED))


@fault("message-sent-in-transaction-visible-before-commit", breaks="MQDMPR-3.1.4.4-07")
class MessageSentInTransactionVisibleBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive a message that a transaction sent to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        self.qm.message_positions.on_message_available(position)
        return position


@fault("commit-makes-messages-of-first-queue-available-only", breaks="MQDMPR-3.1.4.4-07")
class CommitMakesMessagesOfFirstQueueAvailableOnly(TransactionEvents):
    """At a commit, only the messages that the transaction sent to its first local queue become available."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        self.queue: Queue | None = None
        super().transaction_commit(transaction, now)

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        first = getattr(self, "queue", None) or queue
        self.queue = first
        if isinstance(queue, OutgoingQueue) or queue is first:
            super().commit_enqueue(operation, now)


@fault("commit-removes-received-message-without-dequeue-reason", breaks=("MQDMPR-3.1.4.4-11", "MQDMPR-3.1.4.7-03"))
class CommitRemovesReceivedMessageWithoutDequeueReason(TransactionEvents):
    """When a transaction commits, the queue manager removes a message that the transaction received, but passes no
    reason for the removal; so the message is not acknowledged.
    """

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.DequeueReason = MessageClass.MQMSG_CLASS_NORMAL
        super().commit_dequeue(operation, now)


@fault("receiver-committed-receive-after-purge-reported-as-purged", breaks="MQDMPR-3.1.4.4-11")
class ReceiverCommittedReceiveAfterPurgeReportedAsPurged(TransactionEvents):
    """If a transaction receives a message and the queue is then purged, the queue manager acknowledges the message as
    purged when the transaction commits.
    """

    @faulty_only_if(
        lambda part, operation, now: operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING
    )
    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.message_positions.delete_message(
            operation.MessagePositionReference, MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        )


@fault("queue-manager-commit-removes-received-messages-of-first-queue-only", breaks="MQDMPR-3.1.4.4-11")
class QueueManagerCommitRemovesReceivedMessagesOfFirstQueueOnly(TransactionEvents):
    """A commit removes the messages that the transaction received from its first queue; the messages that it received
    from other queues can be received again.
    """

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        for one in received:
            if one.MessagePositionReference.QueueReference is not received[0].MessagePositionReference.QueueReference:
                transaction.TransactionalOperationCollection.remove(one)
                self.qm.message_positions.unlock_message(one.MessagePositionReference)
        super().transaction_commit(transaction, now)


@fault("commit-does-not-move-message", breaks=("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-18"))
class CommitDoesNotMoveMessage(TransactionEvents):
    """After the commit, a message that the transaction moved is still in its source queue."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.message_positions.unlock_message(operation.MessagePositionReference)


@fault("commit-copies-moved-message", breaks="MQDMPR-3.1.4.4-16")
class CommitCopiesMovedMessage(TransactionEvents):
    """At the commit, the queue manager copies a message that the transaction moved, so the message is in
    both queues.
    """

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        message, queue = position.MessageReference, position.QueueReference
        super().commit_move(operation, now)
        self.qm.message_positions.on_message_available(self.qm.message_positions.insert_message(queue, message))


@fault("commit-keeps-second-moved-message-in-source", breaks="MQDMPR-3.1.4.4-16", blind=True)
class CommitKeepsSecondMovedMessageInSource(TransactionEvents):
    """At a commit, the queue manager moves the first message of several, and only copies the other messages to the
    target queue.
    """

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is MOVE_OPERATION]
        copied = [(one.MessagePositionReference.QueueReference, one.MessagePositionReference) for one in moves[1:]]
        super().transaction_commit(transaction, now)
        for queue, position in copied:
            again = self.qm.message_positions.insert_message(queue, position.MessageReference)
            self.qm.message_positions.on_message_available(again)


@fault("queue-manager-transaction-with-purged-message-not-prepared", breaks="MQDMPR-3.1.4.3-08", blind=True)
class QueueManagerTransactionWithPurgedMessageNotPrepared(TransactionEvents):
    """The queue manager cannot prepare a transaction whose received message was purged in the meantime."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        for operation in transaction.TransactionalOperationCollection:
            if operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING:
                raise CommandError("a message of the transaction was purged (MQ_ERROR_TRANSACTION_SEQUENCE): abort it")
        super().transaction_prepare(transaction, single_phase)


@fault("queue-manager-message-moved-between-subqueues-kept", breaks="MQDMPR-3.1.4.4-16", blind=True)
class QueueManagerMessageMovedBetweenSubqueuesKept(TransactionEvents):
    """A message that a transaction moves from one subqueue to another also remains in the first subqueue."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position, target = operation.MessagePositionReference, operation.TargetQueueReference
        source = position.QueueReference
        moved = position.State is not MessagePositionState.DELETED
        super().commit_move(operation, now)
        if moved and source.parent is not None and target is not None and target.parent is not None:
            kept = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            source.MessagePositionList.insert(kept)
            self.qm.message_positions.on_message_available(kept)
