"""Faults of round five that break rules of MS-MQDMPR 3.1.4 Higher-Layer Triggered Events."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.core.events import TransactionOutcome
from reference_qm.core.part import QM
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.disk import Change
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-prepare-after-deletion-of-queue-refused", breaks="MQDMPR-3.1.4.3-08", blind=True)
class QueueManagerPrepareAfterDeletionOfQueueRefused(TransactionCoordinating):
    """The queue manager refuses to prepare a transaction if the queue of one of its operations was deleted."""

    def prepare(self, transaction: Transaction, single_phase: bool, token: int, now: Now) -> Result | None:
        if any(
            operation.MessagePositionReference.State is MessagePositionState.DELETED
            for operation in transaction.TransactionalOperationCollection
        ):
            raise CommandError(f"transaction {transaction.Identifier} has lost a message: abort it")
        return super().prepare(transaction, single_phase, token, now)


@fault("queue-manager-message-of-aborted-transaction-kept-on-disk", breaks="MQDMPR-3.1.4.5-18", blind=True)
class QueueManagerMessageOfAbortedTransactionKeptOnDisk(TransactionRecords):
    """The queue manager does not remove the message that an aborted prepared transaction was to put into a local queue
    from the disk, so that the message is available after a restart.
    """

    def build_abort_record(self, transaction: Transaction) -> Change:
        change = super().build_abort_record(transaction)
        for operation in transaction.TransactionalOperationCollection:
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.ENQUEUE and not isinstance(
                position.QueueReference, OutgoingQueue
            ):
                change.pop(f"message:{position.key}", None)
        return change


@fault("queue-manager-repeated-commit-accepted", breaks="MQDMPR-3.1.4.4-04", blind=True)
class QueueManagerRepeatedCommitAccepted(TransactionCommands):
    """The queue manager accepts another commit of a transaction that was committed and therefore is unknown."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.committed: set[UUID] = set()

    def commit_transaction(self, request: commands.CommitTransaction, token: int, now: Now) -> Result | None:
        known = request.transaction in self.qm.adm.TransactionCollection
        if request.transaction in self.committed and not known:
            return Result({"outcome": TransactionOutcome.COMMITTED.value})
        result = super().commit_transaction(request, token, now)
        self.committed.add(request.transaction)
        return result


def _is_move(events: TransactionEvents, operation: TransactionalOperation, now: Now) -> bool:
    return operation.OperationType is OperationType.MOVE


@fault("queue-manager-move-of-aborted-transaction-message-locked", breaks="MQDMPR-3.1.4.8-03", blind=True)
class QueueManagerMoveOfAbortedTransactionMessageLocked(TransactionEvents):
    """The queue manager leaves a message locked that an aborted transaction was to move."""

    @faulty_only_if(_is_move)
    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        pass
