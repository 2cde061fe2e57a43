"""Faults that break the rules MQDMPR-3.1.4.5-17 to MQDMPR-3.1.4.12-03."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.sessions.session_connecting import OFFLINE_REFUSAL_REASON
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.store.disk import Change
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_4_higher_layer_triggered_events.fault_steps import (
    DEQUEUE_OPERATION,
    ENQUEUE_OPERATION,
    MOVE_OPERATION,
    list_sent_messages_of_transaction,
    reopen_transaction,
    reopen_transaction_without_operations,
)


@fault("queue-manager-aborted-send-kept-as-dead-letter", breaks="MQDMPR-3.1.4.5-17")
class QueueManagerAbortedSendKeptAsDeadLetter(TransactionEvents):
    """When a transaction that sent a message with negative journaling to a local queue is aborted, the message becomes
    a dead letter.
    """

    @faulty_only_if(
        lambda part, operation, now: operation.MessagePositionReference.MessageReference.NegativeJournalingRequested
    )
    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        super().abort_enqueue(operation, now)
        message = operation.MessagePositionReference.MessageReference
        self.qm.message_journaling.put_into_system_queue(
            self.qm.message_journaling.find_dead_letter_queue(message), message
        )


@fault("abort-removes-first-sent-message-only", breaks="MQDMPR-3.1.4.5-17", blind=True)
class AbortRemovesFirstSentMessageOnly(TransactionEvents):
    """At an abort, the queue manager removes only the first of several messages that the transaction sent to local
    queues.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        local = [
            one
            for one in list_sent_messages_of_transaction(transaction)
            if not isinstance(one.QueueReference, OutgoingQueue)
        ]
        super().transaction_abort(transaction, now)
        for position in local[1:]:
            again = self.qm.message_positions.insert_message(position.QueueReference, position.MessageReference)
            self.qm.message_positions.on_message_available(again)


@fault("aborted-sent-message-counts-against-quota", breaks="MQDMPR-3.1.4.5-17", blind=True)
class AbortedSentMessageCountsAgainstQuota(TransactionEvents):
    """After an abort, the queue manager still counts the messages that the transaction sent to a local queue against
    the quota of the queue.
    """

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        size, messages = position.size, position.QueueReference.MessagePositionList
        super().abort_enqueue(operation, now)
        messages.TotalBytes += size


@fault("aborted-transaction-can-be-committed", breaks="MQDMPR-3.1.4.5-18")
class AbortedTransactionCanBeCommitted(TransactionEvents):
    """An aborted transaction keeps its operations and can be committed."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        reopen_transaction(self.qm, transaction)


@fault("aborted-transaction-stays-open", breaks="MQDMPR-3.1.4.5-19")
class AbortedTransactionStaysOpen(TransactionEvents):
    """The queue manager accepts further operations in an aborted transaction."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        reopen_transaction_without_operations(self.qm, transaction)


@fault("queue-manager-aborted-prepared-transaction-in-doubt-after-restart", breaks="MQDMPR-3.1.4.5-19")
class QueueManagerAbortedPreparedTransactionInDoubtAfterRestart(TransactionRecords):
    """After a restart, the queue manager treats a prepared transaction that was already aborted as a transaction in
    doubt.
    """

    def build_abort_record(self, transaction: Transaction) -> Change:
        change = super().build_abort_record(transaction)
        return {name: value for name, value in change.items() if not name.startswith("transaction:")}


@fault("abort-reported-as-committed", breaks=("MQDMPR-3.1.4.5-20", "MQDMPR-3.1.4.8-05"))
class AbortReportedAsCommitted(TransactionCoordinating):
    """The queue manager answers an abort with the state committed."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: TransactionOutcome) -> Result:
        super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": TransactionOutcome.COMMITTED.value})


@fault("abort-of-transaction-with-move-refused", breaks="MQDMPR-3.1.4.5-20", blind=True)
class AbortOfTransactionWithMoveRefused(TransactionCoordinating):
    """The queue manager refuses to abort a transaction that moves a message."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if any(one.OperationType is MOVE_OPERATION for one in transaction.TransactionalOperationCollection):
            raise CommandError("the transaction moves a message: commit it")
        return super().abort(transaction, token)


@fault("prepare-without-single-phase-commits", breaks=("MQDMPR-3.1.4.6-03", "MQDMPR-3.1.4.6-08"))
class PrepareWithoutSinglePhaseCommits(TransactionCoordinating):
    """When a coordinator prepares a transaction in two phases, the queue manager commits the transaction at once."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, True, token, now)
        return result


@fault("queue-manager-prepare-makes-sent-messages-available", breaks="MQDMPR-3.1.4.6-03")
class QueueManagerPrepareMakesSentMessagesAvailable(TransactionCoordinating):
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
                self.qm.message_positions.on_message_available(position)
        return answer


@fault("prepare-with-single-phase-does-not-commit", breaks="MQDMPR-3.1.4.6-09")
class PrepareWithSinglePhaseDoesNotCommit(TransactionCoordinating):
    """When a coordinator prepares a transaction in a single phase, the queue manager prepares the transaction, but does
    not commit it.
    """

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, False, token, now)
        return result


@fault("queue-manager-single-phase-prepare-does-not-commit-move", breaks="MQDMPR-3.1.4.6-09")
class QueueManagerSinglePhasePrepareDoesNotCommitMove(TransactionCoordinating):
    """If a transaction moves a message, a request to prepare and commit the transaction in a single phase only prepares
    the transaction.
    """

    @faulty_only_if(
        lambda part, transaction, single_phase, token, now: any(
            one.OperationType is OperationType.MOVE for one in transaction.TransactionalOperationCollection
        )
    )
    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        return super().prepare(transaction, False, token, now)


@fault("queue-manager-prepare-of-ended-transaction-answered-as-prepared", breaks="MQDMPR-3.1.4.6-11")
class QueueManagerPrepareOfEndedTransactionAnsweredAsPrepared(TransactionCommands):
    """The queue manager answers that a transaction is prepared although the transaction has already ended."""

    def prepare_transaction(self, request: Any, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            return Result({"outcome": TransactionState.PREPARED.value})
        return super().prepare_transaction(request, token, now)


@fault("coordinator-commit-restores-received-message", breaks="MQDMPR-3.1.4.7-03")
class CoordinatorCommitRestoresReceivedMessage(TransactionEvents):
    """When a coordinator's transaction commits, the queue manager returns a received message to its queue instead of
    removing it.
    """

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        in_doubt = self.qm.adm.TransactionCollection.values()
        mine = [one for one in in_doubt if operation in one.TransactionalOperationCollection]
        if any(not one.SinglePhase for one in mine):
            self.qm.message_positions.unlock_message(operation.MessagePositionReference)
        else:
            super().commit_dequeue(operation, now)


@fault("prepared-transaction-abort-keeps-sent-message-locked", breaks="MQDMPR-3.1.4.8-03")
class PreparedTransactionAbortKeepsSentMessageLocked(TransactionEvents):
    """After the abort of a prepared transaction, a message that the transaction sent to a local queue stays there,
    locked.
    """

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection = [
                one
                for one in transaction.TransactionalOperationCollection
                if one.OperationType is not OperationType.ENQUEUE
            ]
        super().transaction_abort(transaction, now)


@fault("queue-manager-abort-of-prepared-transaction-not-answered", breaks="MQDMPR-3.1.4.8-05", blind=True)
class QueueManagerAbortOfPreparedTransactionNotAnswered(TransactionCoordinating):
    """The queue manager does not answer the coordinator that a prepared transaction is aborted."""

    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        if transaction.state is TransactionState.PREPARED:
            super().abort(transaction, None)
            return None
        return super().abort(transaction, token)


@fault("in-doubt-transaction-commit-sends-first-message-only", breaks="MQDMPR-3.1.4.9-D01")
class InDoubtTransactionCommitSendsFirstMessageOnly(TransactionRecords):
    """After a restart, the commit of a transaction in doubt sends only the first of its messages."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kinds = [operation[0] for operation in value["operations"]]
        sent = [index for index, kind in enumerate(kinds) if kind == OperationType.ENQUEUE.value]
        kept = [one for index, one in enumerate(value["operations"]) if index not in sent[1:]]
        super().restore_transaction(rest, {**value, "operations": kept})


@fault("second-in-doubt-transaction-not-restored", breaks=("MQDMPR-3.1.4.9-D01", "MQDMPR-3.1.1.1-D03"))
class SecondInDoubtTransactionNotRestored(TransactionRecords):
    """After a restart, the queue manager knows only one of several transactions in doubt."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        if not any(one.state is TransactionState.PREPARED for one in self.qm.adm.TransactionCollection.values()):
            super().restore_transaction(rest, value)


@fault("in-doubt-transaction-commit-commits-all-in-doubt-transactions", breaks="MQDMPR-3.1.4.9-D01", blind=True)
class InDoubtTransactionCommitCommitsAllInDoubtTransactions(TransactionEvents):
    """When one transaction in doubt is committed, the queue manager also commits the other transactions in doubt."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        prepared = [
            one
            for one in self.qm.adm.TransactionCollection.values()
            if one.state is TransactionState.PREPARED and one is not transaction
        ]
        super().transaction_commit(transaction, now)
        for one in prepared:
            super().transaction_commit(one, now)


@fault("in-doubt-transaction-commit-returns-received-message", breaks="MQDMPR-3.1.4.9-D01", blind=True)
class InDoubtTransactionCommitReturnsReceivedMessage(TransactionRecords):
    """After a restart, the commit of a transaction in doubt returns the messages that the transaction received."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != DEQUEUE_OPERATION.value]
        super().restore_transaction(rest, {**value, "operations": kept})


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


@fault("in-doubt-transaction-messages-sent-at-restart", breaks="MQDMPR-3.1.4.10-D01", blind=True)
class InDoubtTransactionMessagesSentAtRestart(TransactionRecords):
    """At a restart, the queue manager sends the messages of a prepared transaction to other queue managers at once."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        kept = [one for one in value["operations"] if one[0] != ENQUEUE_OPERATION.value]
        super().restore_transaction(rest, {**value, "operations": kept})


def _remove_all_transactions(qm: QueueManager) -> None:
    qm.disk.save({f"transaction:{one}": None for one in qm.adm.TransactionCollection})


add(
    "in-doubt-transaction-decided-by-second-restart",
    "MQDMPR-3.1.4.10-D01",
    "After a second restart, the queue manager does not know the transactions in doubt.",
    change_core_at_restart(_remove_all_transactions),
    blind=True,
)


@fault("reenlistment-timeout-reports-first-transaction-only", breaks="MQDMPR-3.1.4.11-D01", blind=True)
class ReenlistmentTimeoutReportsFirstTransactionOnly(TransactionCommands):
    """At the reenlistment timeout the queue manager reports only the first of several transactions in doubt."""

    def on_reenlistment_timeout(self, request: Any, token: int, now: Now) -> Result:
        return Result({"in_doubt": super().on_reenlistment_timeout(request, token, now).values["in_doubt"][:1]})


@fault("initiator-reestablishes-lost-session-while-offline", breaks="MQDMPR-3.1.4.12-03")
class InitiatorReestablishesLostSessionWhileOffline(SessionEstablishing):
    """A queue manager that is offline still establishes a session when the Session Retry Connect Timer of a lost
    session expires.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        offline = not self.qm.adm.ConnectionActive
        self.qm.adm.ConnectionActive = True
        super().on_session_retry_connect_timer(session, now)
        self.qm.adm.ConnectionActive = not offline


@fault("take-offline-second-time-has-no-effect", breaks="MQDMPR-3.1.4.12-03")
class TakeOfflineSecondTimeHasNoEffect(TransferAdministering):
    """A queue manager that is taken offline for the second time stays online."""

    def take_offline(self, now: Now) -> None:
        if not getattr(self, "taken", False):
            super().take_offline(now)
        self.taken = True


@fault("offline-queue-manager-keeps-half-open-sessions", breaks="MQDMPR-3.1.4.12-03", blind=True)
class OfflineQueueManagerKeepsHalfOpenSessions(TransferAdministering):
    """A queue manager that is taken offline closes only open sessions, and completes a session that is being set up."""

    def take_offline(self, now: Now) -> None:
        half = [one for one in self.qm.sessions.values() if one.SessionState is SessionState.WAITING_CP_MSG]
        for session in half:
            del self.qm.sessions[session.number]
        super().take_offline(now)
        for session in half:
            self.qm.sessions[session.number] = session


@fault("second-offline-request-after-online-request-ignored", breaks="MQDMPR-3.1.4.12-03", blind=True)
class SecondOfflineRequestAfterOnlineRequestIgnored(TransferAdministering):
    """A queue manager that was taken offline and brought online again ignores a second request to go offline."""

    def take_offline(self, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion != "online again":
            super().take_offline(now)

    def bring_online(self, now: Now) -> None:
        super().bring_online(now)
        self.qm.adm.QueueManagerVersion = "online again"


@fault("queue-manager-moves-carried-out-at-prepare", breaks="MQDMPR-3.1.4.6-03", blind=True)
class QueueManagerMovesCarriedOutAtPrepare(TransactionCoordinating):
    """The queue manager carries out the moves of a transaction when it prepares the transaction."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        done = super().prepare(transaction, single_phase, token, now)
        for operation in () if single_phase else transaction.TransactionalOperationCollection:
            if operation.OperationType is OperationType.MOVE:
                self.qm.transaction_events.commit_move(operation, now)
        return done


@fault("initiator-taken-offline-finishes-session-being-established", breaks="MQDMPR-3.1.4.12-03", blind=True)
class InitiatorTakenOfflineFinishesSessionBeingEstablished(TransferAdministering):
    """A queue manager that is taken offline finishes the sessions that it has begun to establish."""

    def take_offline(self, now: Now) -> None:
        self.qm.adm.ConnectionActive = False
        for session in list(self.qm.sessions.values()):
            if not session.initiator or session.SessionState in (SessionState.OPEN, SessionState.WAITING_RECONNECT):
                self.qm.session_closing.close(session, OFFLINE_REFUSAL_REASON, now)
