"""The life of a transaction. Spec: MS-MQDMPR 3.1.7.1.8, 3.1.4.3, 3.1.4.4, 3.1.4.5."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.transactions.operations import move_target
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionState

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import MessagePosition, Queue
    from reference_qm.model.transactions import TransactionalOperation
    from reference_qm.surface.clock import Now


class Outcome(Enum):
    """What became of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"


def create_transaction(qm: QueueManager, identifier: UUID, single_phase: bool) -> Transaction:
    """Create a transaction. Spec: MS-MQDMPR 3.1.7.1.8; that it is new: MS-MQMP 3.1.4.14.

    CommandError when it exists, or when there are as many as the configuration admits.
    """
    if identifier in qm.adm.TransactionCollection:
        raise CommandError(f"transaction {identifier} exists already (MQ_ERROR_TRANSACTION_SEQUENCE): use another one")
    if len(qm.adm.TransactionCollection) >= qm.config.max_transactions:
        raise CommandError(f"{qm.config.max_transactions} transactions are open already: commit or abort one")
    transaction = qm.adm.TransactionCollection[identifier] = Transaction(identifier, single_phase)
    return transaction


def find_transaction(qm: QueueManager, identifier: UUID) -> Transaction:
    """Find a transaction; CommandError when there is none. Spec: MS-MQDMPR 3.1.4.3, 3.1.4.4, 3.1.4.5."""
    transaction = qm.adm.TransactionCollection.get(identifier)
    if transaction is None:
        raise CommandError(f"no transaction {identifier} here (MQ_ERROR_TRANSACTION_SEQUENCE): begin it first")
    return transaction


def transaction_prepare(qm: QueueManager, transaction: Transaction, single_phase: bool = True) -> None:
    """Make a transaction ready to commit. Spec: MS-MQDMPR 3.1.4.3."""
    transaction.SinglePhase = single_phase
    qm.procedures.mark_boundaries(qm, transaction)


def mark_boundaries(qm: QueueManager, transaction: Transaction) -> None:
    """Mark the first and the last message that goes to each queue. Spec: MS-MQDMPR 3.1.4.3, 3.1.1.12.

    3.1.4.3 marks the first and the last operation of the whole transaction, be it a dequeue; 3.1.1.12 the first and
    last message within a sequence, which is of one destination; MS-MQMQ 2.2.20.5 the first and last that is sent. Read
    here as all three admit for a transaction that sends to one queue, so that every receiver can tell where it ends.
    """
    sent: dict[Queue, list[MessagePosition]] = {}
    for operation in transaction.TransactionalOperationCollection:
        if operation.OperationType is OperationType.ENQUEUE:
            position = operation.MessagePositionReference
            sent.setdefault(position.QueueReference, []).append(position)
    for positions in sent.values():
        for position in positions:
            position.MessageReference = replace(
                position.MessageReference,
                FirstInTransaction=position is positions[0],
                LastInTransaction=position is positions[-1],
            )


def carry_out_outcomes(qm: QueueManager, now: Now) -> None:
    """Let what was decided, and is on disk if it has to be, be seen. Spec: MS-MQDMPR 3.1.4.4, 3.1.4.5."""
    while qm.outcomes:
        transaction, outcome = qm.outcomes.pop(0)
        end = qm.procedures.transaction_commit if outcome is Outcome.COMMITTED else qm.procedures.transaction_abort
        end(qm, transaction, now)


def transaction_commit(qm: QueueManager, transaction: Transaction, now: Now) -> None:
    """Carry out the operations of a transaction, in order. Spec: MS-MQDMPR 3.1.4.4."""
    for operation in transaction.TransactionalOperationCollection:
        getattr(qm.procedures, _ON_COMMIT[operation.OperationType])(qm, operation, now)
    _remove(qm, transaction)


def commit_enqueue(qm: QueueManager, operation: TransactionalOperation, now: Now) -> None:
    """Let a message be received, or sent. Spec: MS-MQDMPR 3.1.4.4, MS-MQQB 3.1.7.12.

    One to be sent has its place in the outgoing queue since the disk was asked to take it (``coordinating``): so it is
    the queue's order that is kept, whichever record is on disk first.
    """
    position = operation.MessagePositionReference
    if isinstance(position.QueueReference, OutgoingQueue):
        position.awaits_disk = False
        qm.procedures.dispatch_messages(qm, position.QueueReference.session, now)
    elif position.State is not MessagePositionState.DELETED:
        qm.procedures.message_arrived(qm, position, now)


def commit_dequeue(qm: QueueManager, operation: TransactionalOperation, now: Now) -> None:
    """Delete a message that was received. Spec: MS-MQDMPR 3.1.4.4.

    Also one that was purged meanwhile: it was received before.
    """
    assert operation.DequeueReason is not None
    qm.procedures.delete_message(qm, operation.MessagePositionReference, operation.DequeueReason)


def commit_move(qm: QueueManager, operation: TransactionalOperation, now: Now) -> None:
    """Put a message at the end of the queue that it was moved to. Spec: MS-MQDMPR 3.1.4.4."""
    position, target = operation.MessagePositionReference, move_target(qm, operation)
    if target is None:
        qm.procedures.unlock_message(qm, position)
    elif position.State is not MessagePositionState.DELETED:
        qm.procedures.move_message(qm, position, target)


def transaction_abort(qm: QueueManager, transaction: Transaction, now: Now) -> None:
    """Undo the operations of a transaction. Spec: MS-MQDMPR 3.1.4.5."""
    for operation in transaction.TransactionalOperationCollection:
        getattr(qm.procedures, _ON_ABORT[operation.OperationType])(qm, operation, now)
    _remove(qm, transaction)


def abort_enqueue(qm: QueueManager, operation: TransactionalOperation, now: Now) -> None:
    """Let a message that was not sent leave no trace: nobody is told that it left. Spec: MS-MQDMPR 3.1.4.5."""
    position = operation.MessagePositionReference
    position.QueueReference.MessagePositionList.remove(position)


def abort_dequeue(qm: QueueManager, operation: TransactionalOperation, now: Now) -> None:
    """Let a message be received again, at its old place, unless its queue was purged. Spec: MS-MQDMPR 3.1.4.5.

    Printed is to delete a purged one for the reason of the dequeue: its sender would be told that it was received. Read
    as 3.1.7.1.12 has it, where the reason is the purge.
    """
    qm.procedures.unlock_message(qm, operation.MessagePositionReference)


def abort_unprepared(qm: QueueManager) -> None:
    """Abort what a queue manager that starts finds undecided. Spec: MS-MQDMPR 3.1.3.

    Printed are those without a coordinator; one that has not voted yet is aborted by its coordinator in any case.
    """
    for transaction in qm.adm.TransactionCollection.values():
        if transaction.state is TransactionState.ACTIVE:
            transaction.state = TransactionState.ENDING
            qm.outcomes.append((transaction, Outcome.ABORTED))


def _remove(qm: QueueManager, transaction: Transaction) -> None:
    transaction.TransactionalOperationCollection.clear()
    del qm.adm.TransactionCollection[transaction.Identifier]


_ON_COMMIT = {
    OperationType.ENQUEUE: "commit_enqueue",
    OperationType.DEQUEUE: "commit_dequeue",
    OperationType.MOVE: "commit_move",
}
_ON_ABORT = {
    OperationType.ENQUEUE: "abort_enqueue",
    OperationType.DEQUEUE: "abort_dequeue",
    OperationType.MOVE: "abort_dequeue",
}
"""Names of procedures."""
