"""Faults that break rules of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events for some kinds of transactions, operations
or starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

TransactionCondition = Callable[[Transaction], bool]


def _make_operation_type_condition(kind: OperationType) -> TransactionCondition:
    return lambda transaction: any(one.OperationType is kind for one in transaction.TransactionalOperationCollection)


def _is_external_transaction(transaction: Transaction) -> bool:
    return not transaction.SinglePhase


def _has_no_operation(transaction: Transaction) -> bool:
    return not transaction.TransactionalOperationCollection


def _has_two_operations(transaction: Transaction) -> bool:
    return len(transaction.TransactionalOperationCollection) > 1


DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND: dict[str, tuple[str, TransactionCondition]] = {
    "send": ("that sends a message", _make_operation_type_condition(OperationType.ENQUEUE)),
    "receive": ("that receives a message", _make_operation_type_condition(OperationType.DEQUEUE)),
    "move": ("that moves a message", _make_operation_type_condition(OperationType.MOVE)),
    "external": ("with a coordinator", _is_external_transaction),
    "empty": ("without operations", _has_no_operation),
    "long": ("with several operations", _has_two_operations),
}


def _keep_ended_transactions(end: str, condition: TransactionCondition) -> Install:
    """Return an installer of a fault that does not remove a committed or aborted transaction if a condition is true."""

    class TransactionKept(TransactionEvents):
        def _restore_ended_transaction(
            self, transaction: Transaction, operations: list[TransactionalOperation]
        ) -> None:
            transaction.TransactionalOperationCollection = operations
            transaction.state = TransactionState.ACTIVE if transaction.SinglePhase else TransactionState.PREPARED
            self.qm.adm.TransactionCollection[transaction.Identifier] = transaction

        def transaction_commit(self, transaction: Transaction, now: Now) -> None:
            super().transaction_commit(transaction, now)
            if end == "commit" and condition(transaction):
                self._restore_ended_transaction(transaction, [])

        def transaction_abort(self, transaction: Transaction, now: Now) -> None:
            super().transaction_abort(transaction, now)
            if end == "abort" and condition(transaction):
                self._restore_ended_transaction(transaction, [])

    return replace_part(TransactionKept)


for _end, _rule, _kinds in (
    ("commit", "MQDMPR-3.1.4.4-22", ("send", "move", "external")),
    ("abort", "MQDMPR-3.1.4.5-18", ("send", "move", "external")),
    ("abort", "MQDMPR-3.1.4.5-19", ("empty", "receive", "long")),
):
    for _kind in _kinds:
        _which, _condition = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
        _done = "committed" if _end == "commit" else "aborted"
        add(
            f"queue-manager-{_done}-{_kind}-transaction-kept",
            _rule,
            f"The queue manager does not remove a {_done} transaction {_which}.",
            _keep_ended_transactions(_end, _condition),
            blind=True,
        )


@fault("queue-manager-internal-single-phase-false-beside-external", breaks="MQDMPR-3.1.4.3-04", blind=True)
class QueueManagerInternalSinglePhaseFalseBesideExternal(TransactionEvents):
    """A transaction without a coordinator has the SinglePhase False while a transaction with a coordinator is open."""

    def create_transaction(self, identifier: UUID, single_phase: bool) -> Transaction:
        another = any(map(_is_external_transaction, self.qm.adm.TransactionCollection.values()))
        return super().create_transaction(identifier, single_phase and not another)


def _set_single_phase_of_transactions(qm: QueueManager) -> None:
    for transaction in qm.adm.TransactionCollection.values():
        transaction.SinglePhase = True


add(
    "queue-manager-prepared-transaction-single-phase-after-restart",
    "MQDMPR-3.1.4.3-04",
    "After a restart, a prepared transaction has the SinglePhase True.",
    change_core_at_restart(_set_single_phase_of_transactions),
    blind=True,
)


@fault("queue-manager-start-sends-first-waiting-queue-only", breaks="MQDMPR-3.1.4.1-03", blind=True)
class QueueManagerStartSendsFirstWaitingQueueOnly(TransferAdministering):
    """A queue manager that starts sends only the waiting messages of its first outgoing queue."""

    def establish_waiting(self, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues
        self.qm.adm.OutgoingQueues = dict(list(queues.items())[:1])
        super().establish_waiting(now)
        self.qm.adm.OutgoingQueues = queues


def _clear_queue_labels(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Label = ""


add(
    "queue-manager-start-restores-queues-without-label",
    "MQDMPR-3.1.4.1-03",
    "A queue manager that starts restores its queues without their labels.",
    change_core_at_restart(_clear_queue_labels),
    blind=True,
)


def _remove_last_private_queue(qm: QueueManager) -> None:
    private = [queue for queue in qm.adm.QueueCollection.values() if queue.Pathname.startswith("private$")]
    if private:
        del qm.adm.QueueCollection[private[-1].Pathname.lower()]


add(
    "queue-manager-start-loses-last-queue",
    "MQDMPR-3.1.4.1-03",
    "A queue manager that starts does not restore the private queue that was created last.",
    change_core_at_restart(_remove_last_private_queue),
    blind=True,
)


@fault("queue-manager-commit-leaves-second-moved-message-locked", breaks="MQDMPR-3.1.4.4-19", blind=True)
class QueueManagerCommitLeavesSecondMovedMessageLocked(TransactionEvents):
    """When a transaction with several moves is committed, only the first moved message can be received."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.MOVE]
        super().transaction_commit(transaction, now)
        targets = {id(one.TargetQueueReference): one.TargetQueueReference for one in moves[1:]}
        for queue in targets.values():
            if queue is not None:
                last = list(queue.MessagePositionList)[-1:]
                for position in last:
                    position.State = MessagePositionState.LOCKED


@fault("queue-manager-commit-leaves-message-moved-back-locked", breaks="MQDMPR-3.1.4.4-19", blind=True)
class QueueManagerCommitLeavesMessageMovedBackLocked(TransactionEvents):
    """A message that a commit moved from a subqueue to its queue cannot be received."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_move(operation, now)
        target = operation.TargetQueueReference
        if target is not None and ";" not in target.Pathname:
            for position in list(target.MessagePositionList)[-1:]:
                position.State = MessagePositionState.LOCKED


@fault("queue-manager-abort-of-unknown-transaction-aborts-open-transaction", breaks="MQDMPR-3.1.4.5-04", blind=True)
class QueueManagerAbortOfUnknownTransactionAbortsOpenTransaction(TransactionCommands):
    """When a request to abort names an unknown transaction, the queue manager refuses the request, but aborts the open
    transaction.
    """

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        if request.transaction not in self.qm.adm.TransactionCollection:
            for transaction in list(self.qm.adm.TransactionCollection.values()):
                if transaction.state is TransactionState.ACTIVE:
                    self.qm.transaction_coordinating.abort(transaction, None)
        return super().abort_transaction(request, token, now)


@fault(
    "queue-manager-abort-of-ended-transaction-succeeds-beside-open-transaction", breaks="MQDMPR-3.1.4.5-04", blind=True
)
class QueueManagerAbortOfEndedTransactionSucceedsBesideOpenTransaction(TransactionCommands):
    """While another transaction is open, the queue manager accepts a request to abort a transaction that has ended."""

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        known = self.qm.adm.TransactionCollection
        if request.transaction not in known and known:
            return Result({"outcome": "aborted"})
        return super().abort_transaction(request, token, now)


def _refuse_aborts_of_transactions(condition: TransactionCondition) -> Install:
    class AbortRefused(TransactionCoordinating):
        def abort(self, transaction: Transaction, token: int | None) -> Result | None:
            if condition(transaction):
                raise CommandError(f"transaction {transaction.Identifier} cannot be aborted")
            return super().abort(transaction, token)

    return replace_part(AbortRefused)


for _kind in ("empty", "long", "external"):
    _which, _condition = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
    add(
        f"queue-manager-abort-of-{_kind}-transaction-refused",
        "MQDMPR-3.1.4.5-20",
        f"The queue manager refuses to abort a transaction {_which}.",
        _refuse_aborts_of_transactions(_condition),
        blind=True,
    )


def _omit_operations_at_commit(kind: OperationType, when: Callable[[Transaction], bool]) -> Install:
    """Return an installer of a fault that does not carry out operations of one type when a transaction is committed."""

    class OperationLeft(TransactionEvents):
        def transaction_commit(self, transaction: Transaction, now: Now) -> None:
            if when(transaction):
                transaction.TransactionalOperationCollection = [
                    one for one in transaction.TransactionalOperationCollection if one.OperationType is not kind
                ]
            super().transaction_commit(transaction, now)

    return replace_part(OperationLeft)


for _kind, _operation in (
    ("send", OperationType.ENQUEUE),
    ("receive", OperationType.DEQUEUE),
    ("move", OperationType.MOVE),
):
    _which, _ = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
    add(
        f"queue-manager-coordinator-commit-omits-{_kind}",
        "MQDMPR-3.1.4.7-03",
        f"When the coordinator commits a prepared transaction {_which}, the queue manager does not carry out this "
        "operation.",
        _omit_operations_at_commit(_operation, _is_external_transaction),
        blind=True,
    )


def _ignore_single_phase_requests(condition: TransactionCondition) -> Install:
    class SinglePhaseIgnored(TransactionCoordinating):
        def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
            return super().prepare(transaction, single_phase and not condition(transaction), token, now)

    return replace_part(SinglePhaseIgnored)


for _kind in ("send", "receive", "long"):
    _which, _condition = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
    add(
        f"queue-manager-single-phase-of-{_kind}-transaction-ignored",
        "MQDMPR-3.1.4.6-09",
        f"The queue manager only prepares a transaction {_which} whose coordinator requests a single-phase commit.",
        _ignore_single_phase_requests(_condition),
        blind=True,
    )


def _commit_transactions_at_prepare(condition: TransactionCondition) -> Install:
    class CommittedWhenPrepared(TransactionCoordinating):
        def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
            return super().prepare(transaction, single_phase or condition(transaction), token, now)

    return replace_part(CommittedWhenPrepared)


for _kind in ("send", "move", "long"):
    _which, _condition = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
    add(
        f"queue-manager-prepare-commits-{_kind}-transaction",
        "MQDMPR-3.1.4.6-08",
        f"The queue manager commits a transaction {_which} when the coordinator prepares it in two phases.",
        _commit_transactions_at_prepare(_condition),
        blind=True,
    )


def _report_wrong_outcome_of_commit(outcome: str, condition: TransactionCondition) -> Install:
    """Return an installer of a fault that reports another outcome of a commit by a coordinator."""

    class OtherOutcomeReported(TransactionCoordinating):
        def _carry_out_outcome(self, transaction: Transaction, end: TransactionOutcome) -> Result:
            changed = (
                end is TransactionOutcome.COMMITTED and _is_external_transaction(transaction) and condition(transaction)
            )
            answer = super()._carry_out_outcome(transaction, end)
            return replace(answer, values={"outcome": outcome}) if changed else answer

    return replace_part(OtherOutcomeReported)


for _kind, _outcome in (("empty", "prepared"), ("move", "aborted"), ("long", "prepared")):
    _which, _condition = DESCRIPTION_AND_CONDITION_BY_TRANSACTION_KIND[_kind]
    add(
        f"queue-manager-commit-of-{_kind}-external-transaction-answered-{_outcome}",
        "MQDMPR-3.1.4.7-05",
        f"The queue manager answers the coordinator that a committed transaction {_which} is {_outcome}.",
        _report_wrong_outcome_of_commit(_outcome, _condition),
        blind=True,
    )


@fault("reenlistment-timeout-reports-transactions-with-operations-only", breaks="MQDMPR-3.1.4.11-D01", blind=True)
class ReenlistmentTimeoutReportsTransactionsWithOperationsOnly(TransactionCommands):
    """When the Reenlistment Timeout expires, the queue manager reports only the transactions that receive messages."""

    def on_reenlistment_timeout(self, request: commands.ReenlistmentTimeout, token: int, now: Now) -> Result:
        receiving = _make_operation_type_condition(OperationType.DEQUEUE)
        hidden = [str(one.Identifier) for one in self.qm.adm.TransactionCollection.values() if not receiving(one)]
        answer = super().on_reenlistment_timeout(request, token, now)
        return replace(answer, values={"in_doubt": [one for one in answer.values["in_doubt"] if one not in hidden]})
