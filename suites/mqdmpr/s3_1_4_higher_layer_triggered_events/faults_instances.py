"""Faults of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events in which only some transactions, messages or queues are
wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.part import QM
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import MessagePositionState, OutgoingQueueState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_4_higher_layer_triggered_events.fault_steps import list_sent_messages_of_transaction


@fault("prepare-of-transaction-also-prepares-older-transactions", breaks="MQDMPR-3.1.4.3-03", blind=True)
class PrepareOfTransactionAlsoPreparesOlderTransactions(TransactionCoordinating):
    """When the queue manager prepares a transaction of a coordinator, it also prepares every older active transaction
    of a coordinator.
    """

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for other in self.qm.adm.TransactionCollection.values():
            if other is transaction:
                break
            if not other.SinglePhase and other.state is TransactionState.ACTIVE:
                other.state = TransactionState.PREPARED
        return super().prepare(transaction, single_phase, token, now)


class _LaterTransactionFinder(TransactionEvents):
    """Find the transactions that were begun after a given transaction."""

    def list_later_transactions(self, transaction: Transaction) -> list[Transaction]:
        """Return the active transactions that were begun after a transaction."""
        known = list(self.qm.adm.TransactionCollection.values())
        later = known[known.index(transaction) + 1 :] if transaction in known else []
        return [one for one in later if one.state is TransactionState.ACTIVE]


@fault("commit-also-commits-later-transaction-on-same-queue", breaks="MQDMPR-3.1.4.4-03", blind=True)
class CommitAlsoCommitsLaterTransactionOnSameQueue(_LaterTransactionFinder):
    """A commit also makes available the messages that a later transaction sent to the same local queue."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        queues = {position.QueueReference for position in list_sent_messages_of_transaction(transaction)}
        for other in self.list_later_transactions(transaction):
            for position in list_sent_messages_of_transaction(other):
                if position.QueueReference in queues and not isinstance(position.QueueReference, OutgoingQueue):
                    self.qm.message_positions.on_message_available(position)
        super().transaction_commit(transaction, now)


@fault("abort-also-undoes-dequeues-of-later-transaction", breaks="MQDMPR-3.1.4.5-03", blind=True)
class AbortAlsoUndoesDequeuesOfLaterTransaction(_LaterTransactionFinder):
    """An abort also returns to their queues the messages that a later transaction received."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        for other in self.list_later_transactions(transaction):
            for operation in list(other.TransactionalOperationCollection):
                if operation.OperationType is OperationType.DEQUEUE:
                    other.TransactionalOperationCollection.remove(operation)
                    self.qm.message_positions.unlock_message(operation.MessagePositionReference)
        super().transaction_abort(transaction, now)


@fault("first-message-of-third-transaction-not-marked-first", breaks="MQDMPR-3.1.4.3-06", blind=True)
class FirstMessageOfThirdTransactionNotMarkedFirst(TransactionEvents):
    """In each transaction after the second, the queue manager does not mark the first message as the first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        self.count += 1
        if self.count > 2:
            for position in list_sent_messages_of_transaction(transaction):
                position.MessageReference = replace(position.MessageReference, FirstInTransaction=False)


@fault("last-message-of-long-transaction-not-marked-last", breaks="MQDMPR-3.1.4.3-07", blind=True)
class LastMessageOfLongTransactionNotMarkedLast(TransactionEvents):
    """The queue manager marks the third message as the last message of a transaction with more than three messages."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        sent = list_sent_messages_of_transaction(transaction)
        for number, position in enumerate(sent if len(sent) > 3 else ()):
            position.MessageReference = replace(position.MessageReference, LastInTransaction=number == 2)


@fault("boundaries-of-external-transaction-not-marked", breaks=("MQDMPR-3.1.4.3-06", "MQDMPR-3.1.4.3-07"), blind=True)
class BoundariesOfExternalTransactionNotMarked(TransactionEvents):
    """The queue manager marks neither the first nor the last message of a transaction of a coordinator."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, single_phase)
        for position in list_sent_messages_of_transaction(transaction) if not single_phase else ():
            position.MessageReference = replace(
                position.MessageReference, FirstInTransaction=False, LastInTransaction=False
            )


@fault("second-sent-message-available-before-commit", breaks="MQDMPR-3.1.4.4-07", blind=True)
class SecondSentMessageAvailableBeforeCommit(TransactionOperations):
    """The second message that a transaction sends to a local queue can be received before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        earlier = list_sent_messages_of_transaction(transaction)
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        if earlier and not isinstance(queue, OutgoingQueue):
            self.qm.message_positions.on_message_available(position)
        return position


@fault("prepared-message-available-before-commit", breaks="MQDMPR-3.1.4.4-07", blind=True)
class PreparedMessageAvailableBeforeCommit(TransactionCoordinating):
    """The messages that a transaction sent to local queues can be received when the transaction is prepared."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, single_phase, token, now)
        if not single_phase:
            for position in list_sent_messages_of_transaction(transaction):
                if not isinstance(position.QueueReference, OutgoingQueue):
                    self.qm.message_positions.on_message_available(position)
        return result


@fault("commit-removes-only-first-two-received-messages", breaks="MQDMPR-3.1.4.4-11", blind=True)
class CommitRemovesOnlyFirstTwoReceivedMessages(TransactionEvents):
    """At a commit, the third message that the transaction received returns to its queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.removed = 0

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        self.removed = 0
        super().transaction_commit(transaction, now)

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.removed += 1
        if self.removed == 3:
            self.qm.message_positions.unlock_message(operation.MessagePositionReference)
        else:
            super().commit_dequeue(operation, now)


@fault("commit-gives-all-dequeues-reason-of-first", breaks="MQDMPR-3.1.4.4-11", blind=True)
class CommitGivesAllDequeuesReasonOfFirst(TransactionEvents):
    """A commit removes each received message with the DequeueReason of the transaction's first Dequeue operation."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        reason: MessageClass | None = None
        for operation in transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.DEQUEUE:
                reason = reason or operation.DequeueReason
                operation.DequeueReason = reason
        super().transaction_commit(transaction, now)


@fault("commit-moves-messages-of-transaction-in-reverse-order", breaks="MQDMPR-3.1.4.4-18", blind=True)
class CommitMovesMessagesOfTransactionInReverseOrder(TransactionEvents):
    """A commit moves the messages of a transaction in reverse order."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        operations = transaction.TransactionalOperationCollection
        moves = [one for one in operations if one.OperationType is OperationType.MOVE]
        for one in moves:
            operations.remove(one)
        operations.extend(reversed(moves))
        super().transaction_commit(transaction, now)


@fault("abort-returns-received-messages-of-first-queue-only", breaks="MQDMPR-3.1.4.5-13", blind=True)
class AbortReturnsReceivedMessagesOfFirstQueueOnly(TransactionEvents):
    """After an abort, received messages stay locked if their queue is not the queue from which the transaction received
    its first message.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        received = [
            one
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is not OperationType.ENQUEUE
        ]
        for one in received[1:]:
            if one.MessagePositionReference.QueueReference is not received[0].MessagePositionReference.QueueReference:
                transaction.TransactionalOperationCollection.remove(one)
        super().transaction_abort(transaction, now)


@fault("abort-of-receive-and-move-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.5-13", blind=True)
class AbortOfReceiveAndMoveLeavesMovedMessageLocked(TransactionEvents):
    """An abort leaves a moved message locked if the transaction also received a message."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        kinds = {one.OperationType for one in transaction.TransactionalOperationCollection}
        if kinds >= {OperationType.MOVE, OperationType.DEQUEUE}:
            transaction.TransactionalOperationCollection[:] = [
                one
                for one in transaction.TransactionalOperationCollection
                if one.OperationType is not OperationType.MOVE
            ]
        super().transaction_abort(transaction, now)


@fault("abort-keeps-last-of-three-sent-messages", breaks="MQDMPR-3.1.4.5-17", blind=True)
class AbortKeepsLastOfThreeSentMessages(TransactionEvents):
    """An abort makes the third message that the transaction sent to local queues available."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        for position in list_sent_messages_of_transaction(transaction)[2:3]:
            if not isinstance(position.QueueReference, OutgoingQueue):
                operations = transaction.TransactionalOperationCollection
                operations[:] = [one for one in operations if one.MessagePositionReference is not position]
                self.qm.message_positions.on_message_available(position)
        super().transaction_abort(transaction, now)


@fault("abort-returns-second-purged-message-to-queue", breaks="MQDMPR-3.1.4.5-08", blind=True)
class AbortReturnsSecondPurgedMessageToQueue(TransactionEvents):
    """An abort returns the second purged message of a transaction to its queue."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        purged = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if one.MessagePositionReference.State is MessagePositionState.PURGE_PENDING
        ]
        for position in purged[1:2]:
            position.State = MessagePositionState.LOCKED
        super().transaction_abort(transaction, now)


def _find_newest_transaction_if_unknown(part: TransactionEvents, identifier: UUID) -> Transaction | None:
    """Return the newest transaction if the given identifier is unknown, or None if the identifier is known."""
    known = part.qm.adm.TransactionCollection
    return next(reversed(known.values()), None) if identifier not in known else None


@fault("request-for-unknown-transaction-applied-to-newest-transaction", breaks="MQDMPR-3.1.4.4-04", blind=True)
class RequestForUnknownTransactionAppliedToNewestTransaction(TransactionEvents):
    """When a request to commit, abort or prepare names an unknown transaction, the queue manager applies the request to
    its newest transaction.
    """

    def find_transaction(self, identifier: UUID) -> Transaction:
        return _find_newest_transaction_if_unknown(self, identifier) or super().find_transaction(identifier)


@fault("committed-transaction-with-two-operations-kept-as-empty-transaction", breaks="MQDMPR-3.1.4.4-23", blind=True)
class CommittedTransactionWithTwoOperationsKeptAsEmptyTransaction(TransactionEvents):
    """The queue manager keeps a committed transaction with two or more operations as an empty transaction."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        several = len(transaction.TransactionalOperationCollection) > 1
        super().transaction_commit(transaction, now)
        if several:
            transaction.TransactionalOperationCollection.clear()
            transaction.state = TransactionState.ACTIVE
            self.qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("pause-of-outgoing-queue-resumes-other-paused-queues", breaks="MQDMPR-3.1.4.14-03", blind=True)
class PauseOfOutgoingQueueResumesOtherPausedQueues(TransferAdministering):
    """The pause of an outgoing queue resumes every other paused outgoing queue."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        for other in list(self.qm.adm.OutgoingQueues.values()):
            if other is not queue:
                self.resume_queue(other, now)
        super().pause_queue(queue, now)


@fault("resume-of-queue-ignored-while-other-queue-is-paused", breaks="MQDMPR-3.1.4.15-03", blind=True)
class ResumeOfQueueIgnoredWhileOtherQueueIsPaused(TransferAdministering):
    """The queue manager resumes an outgoing queue only if no other outgoing queue is paused."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        others = [one for one in self.qm.adm.OutgoingQueues.values() if one is not queue]
        if not any(one.State is OutgoingQueueState.ON_HOLD for one in others):
            super().resume_queue(queue, now)


@fault("offline-queue-manager-accepts-second-connection", breaks="MQDMPR-3.1.4.12-03", blind=True)
class OfflineQueueManagerAcceptsSecondConnection(SessionOpening):
    """A queue manager that is offline refuses only the first session, and accepts every later session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused = 0

    def receive_establish_request(self, session: Session, packet: Any, now: Now) -> None:
        offline = not self.qm.adm.ConnectionActive
        self.refused += offline
        if offline and self.refused > 1:
            self.qm.adm.ConnectionActive = True
            super().receive_establish_request(session, packet, now)
            self.qm.adm.ConnectionActive = False
        else:
            super().receive_establish_request(session, packet, now)


@fault("online-queue-manager-connects-first-queue-only", breaks="MQDMPR-3.1.4.13-03", blind=True)
class OnlineQueueManagerConnectsFirstQueueOnly(TransferAdministering):
    """A queue manager that is brought online establishes a session only for its first outgoing queue."""

    def bring_online(self, now: Now) -> None:
        self.qm.adm.ConnectionActive = True
        for queue in list(self.qm.adm.OutgoingQueues.values())[:1]:
            if len(queue.session.OutgoingMessageTable):
                self.qm.session_establishing.establish(queue.session, now)
