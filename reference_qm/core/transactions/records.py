"""What of a transaction is on disk: each step of its life is one record. Spec: MS-MQDMPR 3.1.1.13, 3.1.1.14.

A transaction that is not prepared is not on disk at all: a crash aborts it (MS-MQDMPR 3.1.3). Entries besides those of
the messages: ``transaction:guid``, of a prepared one: ``number`` (20 bits) and ``operations``, each a type, the key of
the message, and for Dequeue the reason (a class), for Move the place to move it to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm.codec import MessageClass
from reference_qm.core.protocol.durability import Change, gone, message_entry, moved, place, removed
from reference_qm.core.protocol.messages import serialize_message
from reference_qm.core.queueing.names import every_queue
from reference_qm.core.transactions.operations import move_target
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import (
    OperationType,
    Transaction,
    TransactionalOperation,
    TransactionState,
)

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Queue


def prepared(qm: QueueManager, transaction: Transaction) -> Change:
    """Give the change that lets a vote survive: the messages to be sent, and what is to be done."""
    change: Change = {"last_transaction": qm.adm.last_transaction}
    operations = _current(transaction)
    for operation in operations:
        position = operation.MessagePositionReference
        if operation.OperationType is OperationType.ENQUEUE:
            position.key = position.key or qm.next_persist_token()
            change |= _entry(qm, position)
    described = [_describe(operation) for operation in operations]
    return change | {_name(transaction): {"number": transaction.number, "operations": described}}


def committed(qm: QueueManager, transaction: Transaction) -> Change:
    """Give the change that makes a transaction be done: all of it, or after a crash nothing.

    Without the messages to be sent to other queue managers, which get new entries with their numbers (``take_over``):
    entries are restored in their order.
    """
    if not qm.disk.used:
        return {}
    change: Change = {_name(transaction): None} if transaction.state is TransactionState.PREPARED else {}
    for operation in _current(transaction):
        change |= _COMMITTED[operation.OperationType](qm, operation)
    return change


def aborted(qm: QueueManager, transaction: Transaction) -> Change:
    """Give the change that undoes what the disk knows of a transaction; empty when it knows nothing."""
    if not qm.disk.used or transaction.state is not TransactionState.PREPARED:
        return {}
    change: Change = {_name(transaction): None}
    for operation in _current(transaction):
        position = operation.MessagePositionReference
        if operation.OperationType is OperationType.ENQUEUE:
            change |= gone([position])
        elif position.State is MessagePositionState.PURGE_PENDING:
            change |= removed(qm, [position], MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
    return change


def outgoing(transaction: Transaction) -> list[tuple[OutgoingQueue, MessagePosition]]:
    """Give the messages that a transaction sends to other queue managers, and their queues."""
    positions = (
        operation.MessagePositionReference
        for operation in transaction.TransactionalOperationCollection
        if operation.OperationType is OperationType.ENQUEUE
    )
    return [(one.QueueReference, one) for one in positions if isinstance(one.QueueReference, OutgoingQueue)]


def restore_transaction(
    qm: QueueManager, rest: str, value: Any, find_place: Callable[[QueueManager, str], Queue | None]
) -> None:
    """Make a prepared transaction again: in doubt, until its coordinator resolves it. Spec: MS-MQDMPR 3.1.3.

    A message that is not there any more was purged. ``find_place``: finds a queue by its ``place``.
    """
    transaction = Transaction(UUID(rest), SinglePhase=False, number=int(value["number"]))
    transaction.state = TransactionState.PREPARED
    positions = {position.key: position for position in _positions(qm)}
    for kind, key, *argument in value["operations"]:
        position = positions.get(key)
        if position is None:
            continue
        operation = TransactionalOperation(OperationType(kind), position)
        if operation.OperationType is OperationType.DEQUEUE:
            operation.DequeueReason = MessageClass(argument[0])
        elif operation.OperationType is OperationType.MOVE:
            operation.TargetQueueReference = find_place(qm, argument[0])
        position.State = MessagePositionState.LOCKED
        _withhold(position)
        transaction.TransactionalOperationCollection.append(operation)
    qm.adm.TransactionCollection[transaction.Identifier] = transaction


def _withhold(position: MessagePosition) -> None:
    """Take a message out of what is to be sent: it gets there when the transaction commits."""
    queue = position.QueueReference
    if isinstance(queue, OutgoingQueue):
        for outgoing in queue.session.OutgoingMessageTable:
            if outgoing.MessagePosition is position:
                queue.session.OutgoingMessageTable.remove(outgoing)


def _positions(qm: QueueManager) -> Iterator[MessagePosition]:
    for queue in every_queue(qm):
        yield from queue.MessagePositionList
    for outgoing in qm.adm.OutgoingQueues.values():
        yield from (one.MessagePosition for one in outgoing.session.OutgoingMessageTable)


def _current(transaction: Transaction) -> list[TransactionalOperation]:
    """Give the operations on messages whose queue was not deleted meanwhile."""
    return [
        operation
        for operation in transaction.TransactionalOperationCollection
        if operation.MessagePositionReference.State is not MessagePositionState.DELETED
    ]


def _name(transaction: Transaction) -> str:
    return f"transaction:{transaction.Identifier}"


def _entry(qm: QueueManager, position: MessagePosition) -> Change:
    message = position.MessageReference
    entry = message_entry(position, serialize_message(message).build())
    return qm.disk.reserve(message.Identifier.Ordinal) | entry


def _describe(operation: TransactionalOperation) -> list[object]:
    described: list[object] = [operation.OperationType.value, operation.MessagePositionReference.key]
    if operation.DequeueReason is not None:
        described.append(int(operation.DequeueReason))
    if operation.TargetQueueReference is not None:
        described.append(place(operation.TargetQueueReference))
    return described


def _enqueued(qm: QueueManager, operation: TransactionalOperation) -> Change:
    position = operation.MessagePositionReference
    if isinstance(position.QueueReference, OutgoingQueue):
        return gone([position])
    return _entry(qm, position) | {"last_transaction": qm.adm.last_transaction}


def _dequeued(qm: QueueManager, operation: TransactionalOperation) -> Change:
    assert operation.DequeueReason is not None
    return removed(qm, [operation.MessagePositionReference], operation.DequeueReason)


def _moved(qm: QueueManager, operation: TransactionalOperation) -> Change:
    position, target = operation.MessagePositionReference, move_target(qm, operation)
    if target is None:
        return {}
    there = MessagePosition(position.MessageReference, target, order_queue=position.order_queue, key=position.key)
    there.LookupIdentifier = position.LookupIdentifier
    return removed(qm, [position], MessageClass.MQMSG_CLASS_NORMAL) | moved(there)


_COMMITTED: dict[OperationType, Callable[[QueueManager, TransactionalOperation], Change]] = {
    OperationType.ENQUEUE: _enqueued,
    OperationType.DEQUEUE: _dequeued,
    OperationType.MOVE: _moved,
}
