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

# -- which transaction ---------------------------------------------------------------------------------------------


@fault("transaction-prepared-with-all-others", breaks="MQDMPR-3.1.4.3-03")
class PreparedWithAllOthers(Coordinating):
    """Preparing a transaction prepares every other one, too."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, single_phase, token, now)
        for other in self.qm.adm.TransactionCollection.values():
            if other.state is TransactionState.ACTIVE:
                other.state = TransactionState.PREPARED
        return result


@fault("transaction-model-always-single-phase", breaks="MQDMPR-3.1.4.3-04")
class AlwaysSinglePhase(TransactionEvents):
    """A transaction that is prepared has SinglePhase, whoever prepares it."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        super().transaction_prepare(transaction, True)
        transaction.SinglePhase = True


@fault(
    "transaction-made-when-missing",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.4-04", "MQDMPR-3.1.4.5-04", "MQDMPR-3.1.4.6-11"),
)
class MadeWhenMissing(TransactionEvents):
    """A transaction that is not there is begun when somebody wants to end it."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        if identifier not in self.qm.adm.TransactionCollection:
            return self.create_transaction(identifier, True)
        found: Transaction = super().find_transaction(identifier)
        return found


@fault(
    "transaction-missing-taken-for-another",
    breaks=("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.6-11"),
)
class TakenForAnother(TransactionEvents):
    """A transaction that is not there is taken for the last one that was begun."""

    def find_transaction(self, identifier: UUID) -> Transaction:
        known = self.qm.adm.TransactionCollection
        if identifier not in known and known:
            return list(known.values())[-1]
        found: Transaction = super().find_transaction(identifier)
        return found


@fault(
    "transaction-ends-with-all-others",
    breaks=("MQDMPR-3.1.4.4-03", "MQDMPR-3.1.4.5-03"),
)
class EndsWithAllOthers(TransactionEvents):
    """What is decided of a transaction is done with all that are open."""

    def carry_out_outcome(self, transaction: Transaction, outcome: Outcome, now: Now) -> None:
        for one in [transaction, *self.qm.adm.TransactionCollection.values()]:
            if one.Identifier in self.qm.adm.TransactionCollection:
                super().carry_out_outcome(one, outcome, now)


# -- preparing -----------------------------------------------------------------------------------------------------


@fault("transaction-of-nothing-refused", breaks=("MQDMPR-3.1.4.3-08", "MQDMPR-3.1.4.6-08"))
class NothingRefused(TransactionEvents):
    """A transaction in which nothing was done cannot be prepared."""

    def transaction_prepare(self, transaction: Transaction, single_phase: bool = True) -> None:
        if not transaction.TransactionalOperationCollection:
            raise CommandError("nothing was done in the transaction")
        super().transaction_prepare(transaction, single_phase)


@fault("transaction-without-first", breaks="MQDMPR-3.1.4.3-06")
class WithoutFirst(TransactionEvents):
    """The first message of a transaction is marked only when it is also the last."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        _marked_only_together(transaction, "FirstInTransaction", "LastInTransaction")


@fault("transaction-without-last", breaks="MQDMPR-3.1.4.3-07")
class WithoutLast(TransactionEvents):
    """The last message of a transaction is marked only when it is also the first."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        _marked_only_together(transaction, "LastInTransaction", "FirstInTransaction")


def _marked_only_together(transaction: Transaction, mark: str, with_mark: str) -> None:
    cleared: dict[str, Any] = {mark: False}
    for operation in transaction.TransactionalOperationCollection:
        position = operation.MessagePositionReference
        message = position.MessageReference
        if operation.OperationType is OperationType.ENQUEUE and not getattr(message, with_mark):
            position.MessageReference = replace(message, **cleared)


@fault("transaction-carried-out-when-prepared", breaks=("MQDMPR-3.1.4.6-03", "MQDMPR-3.1.4.6-08"))
class CarriedOutWhenPrepared(Coordinating):
    """A transaction that a coordinator prepares is committed at once, in however many phases."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, True, token, now)
        return result


@fault("transaction-single-phase-only-prepared", breaks="MQDMPR-3.1.4.6-09")
class SinglePhaseOnlyPrepared(Coordinating):
    """A transaction to be prepared in a single phase waits for a second one."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        result: Result | None = super().prepare(transaction, False, token, now)
        return result


# -- committing ----------------------------------------------------------------------------------------------------


@fault("commit-leaves-sent-messages-locked", breaks="MQDMPR-3.1.4.4-07")
class SentMessagesLocked(TransactionEvents):
    """A message that was sent in a transaction to a queue here stays locked when that is committed."""

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        super().commit_enqueue(operation, now)
        position = operation.MessagePositionReference
        after_events(self.qm, lambda: setattr(position, "State", MessagePositionState.LOCKED))


@fault("message-sent-in-a-transaction-seen-at-once", breaks="MQDMPR-3.1.4.4-07")
class SeenAtOnce(TransactionOperations):
    """A message that is sent in a transaction to a queue here can be received before that is committed."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        self.qm.positions.message_available(position)
        return position


@fault("commit-removes-without-a-reason", breaks=("MQDMPR-3.1.4.4-11", "MQDMPR-3.1.4.7-03"))
class RemovedWithoutReason(TransactionEvents):
    """What was received in a transaction leaves its queue without anybody learning why."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.DequeueReason = MessageClass.MQMSG_CLASS_NORMAL
        super().commit_dequeue(operation, now)


@fault("prepared-commit-carries-nothing-out", breaks="MQDMPR-3.1.4.7-03")
class NothingCarriedOut(TransactionEvents):
    """What was received in a transaction of a coordinator is back in its queue when that commits it."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        in_doubt = self.qm.adm.TransactionCollection.values()
        mine = [one for one in in_doubt if operation in one.TransactionalOperationCollection]
        if any(not one.SinglePhase for one in mine):
            self.qm.positions.unlock_message(operation.MessagePositionReference)
        else:
            super().commit_dequeue(operation, now)


@fault("commit-gives-back-what-was-moved", breaks=("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-18"))
class MovedGivenBack(TransactionEvents):
    """What was moved in a transaction stays where it was."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        self.qm.positions.unlock_message(operation.MessagePositionReference)


@fault("commit-copies-what-was-moved", breaks="MQDMPR-3.1.4.4-16")
class MovedCopied(TransactionEvents):
    """What was moved in a transaction is in both queues."""

    def commit_move(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        message, queue = position.MessageReference, position.QueueReference
        super().commit_move(operation, now)
        self.qm.positions.message_available(self.qm.positions.insert_message(queue, message))


@fault("commit-moves-to-the-front", breaks="MQDMPR-3.1.4.4-18")
class MovedToTheFront(Positions):
    """What is moved has its place before what its new queue had."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        before = list(queue.MessagePositionList)
        moved: MessagePosition | None = super().move_message(position, queue)
        for one in before:
            queue.MessagePositionList.remove(one)
            queue.MessagePositionList.insert(one)
        return moved


@fault("commit-leaves-what-was-moved-locked", breaks=("MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-19"))
class MovedLocked(Positions):
    """What is moved is locked in its new queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        in_transaction = position.State is MessagePositionState.LOCKED
        moved: MessagePosition | None = super().move_message(position, queue)
        if moved is not None and in_transaction:
            moved.State = MessagePositionState.LOCKED
        return moved


@fault("committed-transaction-stays", breaks="MQDMPR-3.1.4.4-23")
class CommittedStays(TransactionEvents):
    """A transaction that was committed goes on: more can be done in it."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        super().transaction_commit(transaction, now)
        _stays(self.qm, transaction)


@fault("aborted-transaction-stays", breaks="MQDMPR-3.1.4.5-19")
class AbortedStays(TransactionEvents):
    """A transaction that was aborted goes on: more can be done in it."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        _stays(self.qm, transaction)


def _stays(qm: QueueManager, transaction: Transaction) -> None:
    transaction.TransactionalOperationCollection.clear()
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("committed-transaction-keeps-its-operations", breaks="MQDMPR-3.1.4.4-22")
class CommittedKeepsOperations(TransactionEvents):
    """What was committed can be undone: the transaction and its operations are kept."""

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


@fault("aborted-transaction-keeps-its-operations", breaks="MQDMPR-3.1.4.5-18")
class AbortedKeepsOperations(TransactionEvents):
    """What was aborted can still be committed: the transaction and its operations are kept."""

    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        super().transaction_abort(transaction, now)
        _can_be_ended_again(self.qm, transaction)


def _can_be_ended_again(qm: QueueManager, transaction: Transaction) -> None:
    transaction.state = TransactionState.ACTIVE
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


@fault("commit-answered-as-prepared", breaks=("MQDMPR-3.1.4.4-24", "MQDMPR-3.1.4.7-05"))
class CommitAnsweredAsPrepared(Coordinating):
    """Who commits a transaction is told once more that it is prepared."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: Outcome) -> Result:
        decided: Result = super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": "prepared"}) if outcome is Outcome.COMMITTED else decided


@fault("abort-answered-as-committed", breaks=("MQDMPR-3.1.4.5-20", "MQDMPR-3.1.4.8-05"))
class AbortAnsweredAsCommitted(Coordinating):
    """Who aborts a transaction is told that it is committed."""

    def _carry_out_outcome(self, transaction: Transaction, outcome: Outcome) -> Result:
        super()._carry_out_outcome(transaction, outcome)
        return Result({"outcome": Outcome.COMMITTED.value})


# -- aborting ------------------------------------------------------------------------------------------------------


@fault("abort-gives-nothing-back", breaks=("MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.8-03"))
class NothingGivenBack(TransactionEvents):
    """What was received or moved in a transaction stays locked when that is aborted."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        if operation.MessagePositionReference.State is not MessagePositionState.LOCKED:
            super().abort_dequeue(operation, now)


@fault("abort-gives-back-at-the-end", breaks="MQDMPR-3.1.4.5-13")
class GivenBackAtTheEnd(TransactionEvents):
    """What was received or moved in a transaction comes to the end of its queue when that is aborted."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)
            position.QueueReference.MessagePositionList.insert(position)
        super().abort_dequeue(operation, now)


@fault("abort-gives-back-what-was-purged", breaks="MQDMPR-3.1.4.5-08")
class PurgedGivenBack(TransactionEvents):
    """What was received in a transaction and purged meanwhile is there again when that is aborted."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        operation.MessagePositionReference.State = MessagePositionState.LOCKED
        super().abort_dequeue(operation, now)


@fault("abort-leaves-what-was-sent", breaks="MQDMPR-3.1.4.5-17")
class SentLeft(TransactionEvents):
    """What was sent in a transaction to a queue here can be received when that is aborted."""

    def abort_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        self.commit_enqueue(operation, now)
