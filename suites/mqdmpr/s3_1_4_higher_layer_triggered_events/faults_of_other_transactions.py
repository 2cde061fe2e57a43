"""Faults that break rules of MS-MQDMPR 3.1.4 in transactions other than the one that is committed or aborted, or in a
later state.
"""

from __future__ import annotations

from uuid import UUID

from harness.faults.events import call_after_posted_events
from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import Command


def _list_other_transactions(qm: QueueManager, transaction: Transaction) -> list[Transaction]:
    return [one for one in qm.adm.TransactionCollection.values() if one is not transaction]


def _do_transactions_share_queue(one: Transaction, other: Transaction) -> bool:
    queues = [
        {id(operation.MessagePositionReference.QueueReference) for operation in each.TransactionalOperationCollection}
        for each in (one, other)
    ]
    return bool(queues[0] & queues[1])


@fault("queue-manager-prepare-also-prepares-transactions-on-same-queue", breaks="MQDMPR-3.1.4.3-03", blind=True)
class QueueManagerPrepareAlsoPreparesTransactionsOnSameQueue(TransactionCoordinating):
    """A request to prepare a transaction also prepares the other external transactions that use one of its queues."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result = super().prepare(transaction, single_phase, token, now)
        for other in _list_other_transactions(self.qm, transaction):
            if (
                not other.SinglePhase
                and other.state is TransactionState.ACTIVE
                and _do_transactions_share_queue(transaction, other)
            ):
                other.state = TransactionState.PREPARED
        return result


@fault("queue-manager-single-phase-prepare-prepares-other-transaction", breaks="MQDMPR-3.1.4.3-03", blind=True)
class QueueManagerSinglePhasePreparePreparesOtherTransaction(TransactionCoordinating):
    """A request to prepare a transaction in a single phase also prepares the other external transactions."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result = super().prepare(transaction, single_phase, token, now)
        for other in _list_other_transactions(self.qm, transaction):
            if single_phase and not other.SinglePhase and other.state is TransactionState.ACTIVE:
                other.state = TransactionState.PREPARED
        return result


@fault("queue-manager-prepare-clears-single-phase-of-other-transactions", breaks="MQDMPR-3.1.4.3-04", blind=True)
class QueueManagerPrepareClearsSinglePhaseOfOtherTransactions(TransactionCoordinating):
    """When a coordinator prepares a transaction, the SinglePhase of every open transaction becomes False."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        for other in _list_other_transactions(self.qm, transaction):
            other.SinglePhase = False
        return super().prepare(transaction, single_phase, token, now)


@fault("queue-manager-single-phase-of-transaction-with-receive-false", breaks="MQDMPR-3.1.4.3-04", blind=True)
class QueueManagerSinglePhaseOfTransactionWithReceiveFalse(TransactionCommands):
    """The SinglePhase of a transaction is False as soon as a request names the transaction a second time."""

    def find_transaction_of_request(self, identifier: UUID | None) -> Transaction | None:
        transaction = super().find_transaction_of_request(identifier)
        if transaction is not None and len(transaction.TransactionalOperationCollection):
            transaction.SinglePhase = False
        return transaction


@fault("queue-manager-unknown-transaction-created-by-prepare", breaks="MQDMPR-3.1.4.3-05", blind=True)
class QueueManagerUnknownTransactionCreatedByPrepare(TransactionCommands):
    """The queue manager refuses to prepare an unknown transaction, but creates the transaction."""

    def prepare_transaction(self, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
        try:
            return super().prepare_transaction(request, token, now)
        except CommandError:
            if request.transaction not in self.qm.adm.TransactionCollection:
                self.qm.transaction_events.create_transaction(request.transaction, False)
            raise


class _EndedTransactionRecorder(TransactionCommands):
    """Record the transactions that were committed or aborted."""

    ended_transactions: set[UUID]

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        return self._record_ended_transaction(request.transaction, super().commit_transaction(request, token, now))

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        return self._record_ended_transaction(request.transaction, super().abort_transaction(request, token, now))

    def has_transaction_ended(self, identifier: UUID) -> bool:
        open_ = identifier in self.qm.adm.TransactionCollection
        return not open_ and identifier in getattr(self, "ended_transactions", ())

    def _record_ended_transaction(self, identifier: UUID, result: Result | None) -> Result | None:
        self.ended_transactions = {*getattr(self, "ended_transactions", ()), identifier}
        return result


@fault("queue-manager-ended-transaction-answered-as-prepared", breaks="MQDMPR-3.1.4.3-05", blind=True)
class QueueManagerEndedTransactionAnsweredAsPrepared(_EndedTransactionRecorder):
    """The queue manager votes to prepare a transaction that it has committed or aborted."""

    def prepare_transaction(self, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
        if self.has_transaction_ended(request.transaction):
            return Result({"outcome": TransactionState.PREPARED.value})
        return super().prepare_transaction(request, token, now)


@fault("queue-manager-commit-also-commits-transactions-on-same-queue", breaks="MQDMPR-3.1.4.4-03", blind=True)
class QueueManagerCommitAlsoCommitsTransactionsOnSameQueue(TransactionEvents):
    """A request to commit a transaction also commits the other transactions that use one of its queues."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        others = [
            one
            for one in _list_other_transactions(self.qm, transaction)
            if one.SinglePhase
            and one.state is TransactionState.ACTIVE
            and _do_transactions_share_queue(one, transaction)
        ]
        super().transaction_commit(transaction, now)
        for other in others:
            if not any(
                isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
                for one in other.TransactionalOperationCollection
            ):
                super().transaction_commit(other, now)


@fault("queue-manager-commit-also-commits-prepared-transactions", breaks="MQDMPR-3.1.4.4-03", blind=True)
class QueueManagerCommitAlsoCommitsPreparedTransactions(TransactionEvents):
    """A request to commit a prepared transaction also commits the other prepared transactions."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        external = not transaction.SinglePhase
        super().transaction_commit(transaction, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            if external and other.state is TransactionState.PREPARED:
                super().transaction_commit(other, now)


@fault("queue-manager-commit-of-ended-transaction-answered-as-committed", breaks="MQDMPR-3.1.4.4-04", blind=True)
class QueueManagerCommitOfEndedTransactionAnsweredAsCommitted(_EndedTransactionRecorder):
    """The queue manager answers a request to commit a transaction that has ended as if it committed the transaction."""

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        if self.has_transaction_ended(request.transaction):
            return Result({"outcome": TransactionOutcome.COMMITTED.value})
        return super().commit_transaction(request, token, now)


@fault("queue-manager-unknown-transaction-created-by-commit", breaks="MQDMPR-3.1.4.4-04", blind=True)
class QueueManagerUnknownTransactionCreatedByCommit(TransactionCommands):
    """The queue manager refuses to commit an unknown transaction, but creates the transaction."""

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        try:
            return super().commit_transaction(request, token, now)
        except CommandError:
            if request.transaction not in self.qm.adm.TransactionCollection:
                self.qm.transaction_events.create_transaction(request.transaction, True)
            raise


@fault("queue-manager-transaction-with-deleted-message-not-committed", breaks="MQDMPR-3.1.4.4-24", blind=True)
class QueueManagerTransactionWithDeletedMessageNotCommitted(TransactionCoordinating):
    """The queue manager refuses to commit a transaction whose messages were deleted or purged with their queue."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        gone = (MessagePositionState.DELETED, MessagePositionState.PURGE_PENDING)
        states = [one.MessagePositionReference.State for one in transaction.TransactionalOperationCollection]
        if any(state in gone for state in states):
            raise CommandError(f"a message of transaction {transaction.Identifier} was deleted: abort it")
        return super().commit(transaction, token, now)


@fault("queue-manager-prepared-transaction-without-operations-not-committed", breaks="MQDMPR-3.1.4.4-24", blind=True)
class QueueManagerPreparedTransactionWithoutOperationsNotCommitted(TransactionCoordinating):
    """The queue manager refuses to commit a prepared transaction without operations."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        if not transaction.SinglePhase and not transaction.TransactionalOperationCollection:
            raise CommandError(f"transaction {transaction.Identifier} has no operations: abort it")
        return super().commit(transaction, token, now)


@fault("queue-manager-transaction-with-several-moves-not-committed", breaks="MQDMPR-3.1.4.4-24")
class QueueManagerTransactionWithSeveralMovesNotCommitted(TransactionCoordinating):
    """The queue manager refuses to commit a transaction that moves more than one message."""

    def commit(self, transaction: Transaction, token: int, now: Now) -> Result | None:
        kinds = [operation.OperationType for operation in transaction.TransactionalOperationCollection]
        if kinds.count(OperationType.MOVE) > 1:
            raise CommandError(f"transaction {transaction.Identifier} moves several messages: abort it")
        return super().commit(transaction, token, now)


@fault("queue-manager-abort-also-aborts-transactions-on-same-queue", breaks="MQDMPR-3.1.4.5-03", blind=True)
class QueueManagerAbortAlsoAbortsTransactionsOnSameQueue(TransactionEvents):
    """A request to abort a transaction also aborts the other transactions that use one of its queues."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        others = [
            one
            for one in _list_other_transactions(self.qm, transaction)
            if _do_transactions_share_queue(one, transaction)
        ]
        super().transaction_abort(transaction, now)
        for other in others:
            if other.state is TransactionState.ACTIVE:
                super().transaction_abort(other, now)


@fault("queue-manager-abort-also-aborts-prepared-transactions", breaks="MQDMPR-3.1.4.5-03", blind=True)
class QueueManagerAbortAlsoAbortsPreparedTransactions(TransactionEvents):
    """A request to abort a transaction also aborts the prepared transactions."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        for other in list(self.qm.adm.TransactionCollection.values()):
            if other.state is TransactionState.PREPARED:
                super().transaction_abort(other, now)


@fault("queue-manager-moves-carried-out-at-request-for-vote", breaks="MQDMPR-3.1.4.6-03", blind=True)
class QueueManagerMovesCarriedOutAtRequestForVote(TransactionCoordinating):
    """When the coordinator requests a vote, the queue manager carries out the moves of the transaction."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result = super().prepare(transaction, single_phase, token, now)
        for operation in transaction.TransactionalOperationCollection if not single_phase else ():
            if operation.OperationType is OperationType.MOVE:
                self.qm.transaction_events.commit_move(operation, now)
        return result


@fault("queue-manager-receives-acknowledged-at-request-for-vote", breaks="MQDMPR-3.1.4.6-03", blind=True)
class QueueManagerReceivesAcknowledgedAtRequestForVote(TransactionCoordinating):
    """When the coordinator requests a vote, the queue manager acknowledges the receives of the transaction."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result = super().prepare(transaction, single_phase, token, now)

        def acknowledge_receives() -> None:
            for operation in transaction.TransactionalOperationCollection if not single_phase else ():
                if operation.OperationType is OperationType.DEQUEUE:
                    message = operation.MessagePositionReference.MessageReference
                    self.qm.admin_acks.acknowledge_receive(message, MessageClass.MQMSG_CLASS_ACK_RECEIVE, now)

        call_after_posted_events(self.qm, acknowledge_receives)
        return result


@fault("queue-manager-unknown-transaction-committed-in-single-phase", breaks="MQDMPR-3.1.4.6-11", blind=True)
class QueueManagerUnknownTransactionCommittedInSinglePhase(TransactionCommands):
    """When a coordinator requests to prepare an unknown transaction in a single phase, the queue manager answers that
    the transaction is committed.
    """

    def prepare_transaction(self, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
        if request.single_phase and request.transaction not in self.qm.adm.TransactionCollection:
            return Result({"outcome": TransactionOutcome.COMMITTED.value})
        return super().prepare_transaction(request, token, now)


@fault("queue-manager-unprepared-transaction-answered-as-committed", breaks="MQDMPR-3.1.4.6-11", blind=True)
class QueueManagerUnpreparedTransactionAnsweredAsCommitted(TransactionCommands):
    """When a coordinator requests to commit a transaction that the queue manager could not prepare, the queue manager
    answers that the transaction is committed.
    """

    refused: set[UUID]

    def prepare_transaction(self, request: commands.PrepareTransaction, token: int, now: Now) -> Result | None:
        try:
            return super().prepare_transaction(request, token, now)
        except CommandError:
            self.refused = {*getattr(self, "refused", ()), request.transaction}
            raise

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        known = request.transaction in self.qm.adm.TransactionCollection
        if not known and request.transaction in getattr(self, "refused", ()):
            return Result({"outcome": TransactionOutcome.COMMITTED.value})
        return super().commit_transaction(request, token, now)


class _AbortOutcomeChanger(TransactionCommands):
    """Answer some requests to abort with a wrong outcome; a subclass selects these requests."""

    outcome: str

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        transaction = self.qm.transaction_events.find_transaction(request.transaction)
        changed = not transaction.SinglePhase and self.is_abort_outcome_changed(transaction)
        result = super().abort_transaction(request, token, now)
        return Result({"outcome": self.outcome}) if changed and result is not None else result

    def is_abort_outcome_changed(self, transaction: Transaction) -> bool:
        raise NotImplementedError


@fault(
    "queue-manager-abort-of-transaction-without-operations-answered-committed", breaks="MQDMPR-3.1.4.8-05", blind=True
)
class QueueManagerAbortOfTransactionWithoutOperationsAnsweredCommitted(_AbortOutcomeChanger):
    """When a coordinator aborts a transaction without operations, the queue manager answers that the transaction is
    committed.
    """

    outcome = TransactionOutcome.COMMITTED.value

    def is_abort_outcome_changed(self, transaction: Transaction) -> bool:
        return not transaction.TransactionalOperationCollection


@fault("queue-manager-abort-of-transaction-with-receive-answered-prepared", breaks="MQDMPR-3.1.4.8-05", blind=True)
class QueueManagerAbortOfTransactionWithReceiveAnsweredPrepared(_AbortOutcomeChanger):
    """When a coordinator aborts a transaction that received a message, the queue manager answers that the transaction
    is prepared.
    """

    outcome = TransactionState.PREPARED.value

    def is_abort_outcome_changed(self, transaction: Transaction) -> bool:
        kinds = {operation.OperationType for operation in transaction.TransactionalOperationCollection}
        return OperationType.DEQUEUE in kinds and transaction.state is TransactionState.ACTIVE


_REENLISTMENT_TIMEOUT_REASON = "the coordinator did not report"


@fault("queue-manager-receive-not-refused-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class QueueManagerReceiveNotRefusedAfterReenlistmentTimeout(InputDispatching):
    """After the Reenlistment Timeout the queue manager still serves applications that receive or peek."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        reads = isinstance(event.request, commands.ReceiveMessage | commands.PeekMessage)
        if reads and halted is not None and halted.startswith(_REENLISTMENT_TIMEOUT_REASON):
            self.qm.halted = None
        super().on_command(event, now)
        self.qm.halted = self.qm.halted or halted


@fault("queue-manager-second-request-not-refused-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class QueueManagerSecondRequestNotRefusedAfterReenlistmentTimeout(InputDispatching):
    """After the Reenlistment Timeout, the queue manager refuses only the first request of an application."""

    refused = False

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if halted is not None and halted.startswith(_REENLISTMENT_TIMEOUT_REASON):
            if self.refused:
                self.qm.halted = None
            self.refused = self.refused or not isinstance(event.request, commands.ListQueues | commands.Inspect)
        super().on_command(event, now)
        self.qm.halted = self.qm.halted or halted
