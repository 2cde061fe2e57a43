"""Faults of MS-MQDMPR 3.1.4, Higher-Layer Triggered Events that only special cases reveal: other causes, second
instances and later moments.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, only_if
from reference_qm.codec import MessageClass
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.events import Outcome
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.store.disk import Change
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import MessagePositionState, OutgoingQueueState, SessionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-prepare-makes-sent-messages-available", breaks="MQDMPR-3.1.4.6-03")
class QueueManagerPrepareMakesSentMessagesAvailable(Coordinating):
    """Messages that a prepared transaction sent to local queues can be received before the commit of
    the transaction.
    """

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        answer = super().prepare(transaction, single_phase, token, now)
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.ENQUEUE and not isinstance(
                position.QueueReference, OutgoingQueue
            ):
                self.qm.positions.message_available(position)
        return answer


@fault("receiver-committed-receive-after-purge-reported-as-purged", breaks="MQDMPR-3.1.4.4-11")
class ReceiverCommittedReceiveAfterPurgeReportedAsPurged(TransactionEvents):
    """If a transaction receives a message and the queue is then purged, the queue manager acknowledges the message as
    purged when the transaction commits.
    """

    @only_if(
        lambda part, operation, now: operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING
    )
    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.positions.delete_message(operation.MessagePositionReference, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)


@fault("queue-manager-commit-removes-messages-of-one-queue-only", breaks="MQDMPR-3.1.4.4-11")
class QueueManagerCommitRemovesMessagesOfOneQueueOnly(TransactionEvents):
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
                self.qm.positions.unlock_message(one.MessagePositionReference)
        super().transaction_commit(transaction, now)


@fault("queue-manager-committed-move-inserts-by-lookup-identifier", breaks="MQDMPR-3.1.4.4-18")
class QueueManagerCommittedMoveInsertsByLookupIdentifier(TransactionEvents):
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


@fault("queue-manager-commit-after-prepare-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.4-19")
class QueueManagerCommitAfterPrepareLeavesMovedMessageLocked(TransactionEvents):
    """A message that a prepared transaction moved stays locked in its target queue after the commit."""

    @only_if(lambda part, operation, now: _is_of_two_phases(part, operation))
    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_move(operation, now)
        target = operation.TargetQueueReference
        for one in target.MessagePositionList if target is not None else ():
            if one.LookupIdentifier == operation.MessagePositionReference.LookupIdentifier:
                one.State = MessagePositionState.LOCKED


def _is_of_two_phases(part: TransactionEvents, operation: TransactionalOperation) -> bool:
    units = part.qm.adm.TransactionCollection.values()
    return any(operation in unit.TransactionalOperationCollection and not unit.SinglePhase for unit in units)


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


@fault("queue-manager-commit-refused-when-queue-of-message-is-deleted", breaks="MQDMPR-3.1.4.4-24")
class QueueManagerCommitRefusedWhenQueueOfMessageIsDeleted(Coordinating):
    """The queue manager refuses to commit a transaction if the queue of one of the transaction's
    messages was deleted.
    """

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        known = list(self.qm.queue_names.every_queue())
        for operation in transaction.TransactionalOperationCollection:
            queue = operation.MessagePositionReference.QueueReference
            if not isinstance(queue, OutgoingQueue) and queue not in known:
                raise CommandError("a queue of the transaction was deleted: abort the transaction")
        return super().commit(transaction, token, now)


@fault("queue-manager-abort-of-committed-transaction-succeeds", breaks="MQDMPR-3.1.4.5-04")
class QueueManagerAbortOfCommittedTransactionSucceeds(TransactionCommands):
    """The queue manager returns success when an application aborts a transaction that has already ended."""

    def abort_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            return Result({"outcome": Outcome.ABORTED.value})
        return super().abort_transaction(request, token, now)


@fault("queue-manager-abort-after-purge-keeps-moved-message", breaks="MQDMPR-3.1.4.5-08")
class QueueManagerAbortAfterPurgeKeepsMovedMessage(TransactionEvents):
    """If a message that a transaction has moved is purged, the abort of the transaction returns the message to its
    queue.
    """

    @only_if(lambda part, operation, now: operation.OperationType is OperationType.MOVE)
    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if operation.MessagePositionReference.State is MessagePositionState.PURGE_PENDING:
            operation.MessagePositionReference.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("queue-manager-abort-after-purge-keeps-second-received-message", breaks="MQDMPR-3.1.4.5-08")
class QueueManagerAbortAfterPurgeKeepsSecondReceivedMessage(TransactionEvents):
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


@fault("queue-manager-aborted-receive-changes-lookup-identifier", breaks="MQDMPR-3.1.4.5-13")
class QueueManagerAbortedReceiveChangesLookupIdentifier(TransactionEvents):
    """At an abort, the queue manager returns a message that the transaction received to its queue with a new
    LookupIdentifier.
    """

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        super().abort_dequeue(operation, now)
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.AVAILABLE:
            identifiers = position.QueueReference.MessagePositionList._by_identifier
            identifiers.pop(position.LookupIdentifier, None)
            position.LookupIdentifier = self.qm.positions.assign_lookup_identifier(position.MessageReference)
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


@fault("queue-manager-aborted-send-kept-as-dead-letter", breaks="MQDMPR-3.1.4.5-17")
class QueueManagerAbortedSendKeptAsDeadLetter(TransactionEvents):
    """When a transaction that sent a message with negative journaling to a local queue is aborted, the message becomes
    a dead letter.
    """

    @only_if(
        lambda part, operation, now: operation.MessagePositionReference.MessageReference.NegativeJournalingRequested
    )
    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        super().abort_enqueue(operation, now)
        message = operation.MessagePositionReference.MessageReference
        self.qm.journaling.keep_message(self.qm.journaling.dead_letter_queue(message), message)


@fault("queue-manager-aborted-prepared-transaction-in-doubt-after-restart", breaks="MQDMPR-3.1.4.5-19")
class QueueManagerAbortedPreparedTransactionInDoubtAfterRestart(TransactionRecords):
    """After a restart, the queue manager treats a prepared transaction that was already aborted as a transaction in
    doubt.
    """

    def build_abort_record(self, transaction: Transaction) -> Change:
        change = super().build_abort_record(transaction)
        return {name: value for name, value in change.items() if not name.startswith("transaction:")}


@fault("queue-manager-single-phase-prepare-of-move-not-committed", breaks="MQDMPR-3.1.4.6-09")
class QueueManagerSinglePhasePrepareOfMoveNotCommitted(Coordinating):
    """If a transaction moves a message, a request to prepare and commit the transaction in a single phase only prepares
    the transaction.
    """

    @only_if(
        lambda part, transaction, single_phase, token, now: any(
            one.OperationType is OperationType.MOVE for one in transaction.TransactionalOperationCollection
        )
    )
    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        return super().prepare(transaction, False, token, now)


@fault("queue-manager-second-prepare-answered-as-prepared", breaks="MQDMPR-3.1.4.6-11")
class QueueManagerSecondPrepareAnsweredAsPrepared(TransactionCommands):
    """The queue manager answers that a transaction is prepared although the transaction has already ended."""

    def prepare_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            return Result({"outcome": TransactionState.PREPARED.value})
        return super().prepare_transaction(request, token, now)


@fault("in-doubt-transaction-commit-sends-first-message-only", breaks="MQDMPR-3.1.4.9-D01")
class InDoubtTransactionCommitSendsFirstMessageOnly(TransactionRecords):
    """After a restart, the commit of a transaction in doubt sends only the first of its messages."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kinds = [operation[0] for operation in value["operations"]]
        sent = [index for index, kind in enumerate(kinds) if kind == OperationType.ENQUEUE.value]
        kept = [one for index, one in enumerate(value["operations"]) if index not in sent[1:]]
        super().restore_transaction(rest, {**value, "operations": kept})


@fault("in-doubt-transaction-second-one-not-restored", breaks=("MQDMPR-3.1.4.9-D01", "MQDMPR-3.1.1.1-D03"))
class InDoubtTransactionSecondOneNotRestored(TransactionRecords):
    """After a restart, the queue manager knows only one of several transactions in doubt."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if not any(one.state is TransactionState.PREPARED for one in self.qm.adm.TransactionCollection.values()):
            super().restore_transaction(rest, value)


@fault("in-doubt-transaction-abort-leaves-moved-message-locked", breaks="MQDMPR-3.1.4.10-D01")
class InDoubtTransactionAbortLeavesMovedMessageLocked(TransactionRecords):
    """After a restart, the abort of a transaction in doubt does not unlock the messages that the transaction moved."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        for unit in self.qm.adm.TransactionCollection.values():
            for one in list(unit.TransactionalOperationCollection):
                if one.OperationType is OperationType.MOVE and str(unit.Identifier) == rest:
                    one.MessagePositionReference.State = MessagePositionState.LOCKED
                    unit.TransactionalOperationCollection.remove(one)


@fault("prepared-transaction-abort-keeps-sent-message-locked", breaks="MQDMPR-3.1.4.8-03")
class PreparedTransactionAbortKeepsSentMessageLocked(TransactionEvents):
    """After an abort, the queue manager keeps a message that a prepared transaction sent to a local queue locked."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection = [
                one
                for one in transaction.TransactionalOperationCollection
                if one.OperationType is not OperationType.ENQUEUE
            ]
        super().transaction_abort(transaction, now)


@fault("initiator-offline-retries-lost-session", breaks="MQDMPR-3.1.4.12-03")
class InitiatorOfflineRetriesLostSession(Establishing):
    """A queue manager that is offline still establishes a session when the Session Retry Connect Timer of a lost
    session expires.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        offline = not self.qm.adm.ConnectionActive
        self.qm.adm.ConnectionActive = True
        super().on_session_retry_connect_timer(session, now)
        self.qm.adm.ConnectionActive = not offline


@fault("initiator-online-again-sends-messages-of-one-queue-only", breaks="MQDMPR-3.1.4.13-03")
class InitiatorOnlineAgainSendsMessagesOfOneQueueOnly(Administering):
    """A queue manager that is brought online sends the waiting messages of only one of several outgoing queues."""

    def establish_waiting(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            idle = queue.session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT)
            if idle and len(queue.session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
                self.qm.establishing.establish(queue.session, now)
                return


@fault("sender-paused-queue-sends-when-its-session-opens", breaks="MQDMPR-3.1.4.14-03")
class SenderPausedQueueSendsWhenItsSessionOpens(Administering):
    """When an outgoing queue without an open session is paused, the queue manager still sends its messages."""

    @only_if(lambda part, queue, now: queue.session.SessionState is not SessionState.OPEN)
    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        return


@fault("sender-second-resume-of-queue-has-no-effect", breaks="MQDMPR-3.1.4.15-03")
class SenderSecondResumeOfQueueHasNoEffect(Administering):
    """When an outgoing queue is paused and resumed for the second time, the queue manager leaves the queue paused."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        if queue.Label.endswith("resumed"):
            return
        super().resume_queue(queue, now)
        queue.Label = f"{queue.Label} resumed"


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


@fault("commit-makes-messages-of-first-queue-available-only", breaks="MQDMPR-3.1.4.4-07")
class CommitMakesMessagesOfFirstQueueAvailableOnly(TransactionEvents):
    """At a commit, the queue manager makes only the messages for the first local queue of the transaction available."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        self.queue: Queue | None = None
        super().transaction_commit(transaction, now)

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        first = getattr(self, "queue", None) or queue
        self.queue = first
        if isinstance(queue, OutgoingQueue) or queue is first:
            super().commit_enqueue(operation, now)


@fault("bring-online-establishes-only-first-waiting-session", breaks="MQDMPR-3.1.4.13-03")
class BringOnlineEstablishesOnlyFirstWaitingSession(Administering):
    """A queue manager that is brought online sends only the messages of its first outgoing queue."""

    def bring_online(self, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues
        waiting = [name for name, one in queues.items() if len(one.session.OutgoingMessageTable)]
        held = {name: queues.pop(name) for name in waiting[1:]}
        super().bring_online(now)
        queues.update(held)


@fault("take-offline-second-time-has-no-effect", breaks="MQDMPR-3.1.4.12-03")
class TakeOfflineSecondTimeHasNoEffect(Administering):
    """A queue manager that is taken offline for the second time stays online."""

    def take_offline(self, now: Now) -> None:
        if not getattr(self, "taken", False):
            super().take_offline(now)
        self.taken = True
