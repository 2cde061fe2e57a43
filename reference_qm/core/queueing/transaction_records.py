from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

from reference_qm.codec import MessageClass
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import Change
from reference_qm.core.store.entries import (
    build_message_entry,
    build_message_relocation,
    build_removal_change,
    format_queue_name_of_entry,
)
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import (
    OperationType,
    Transaction,
    TransactionalOperation,
    TransactionState,
)


class TransactionRecords(QueueManagerPart):
    """Builds a disk record for each change of a transaction's state. Spec: MS-MQDMPR 3.1.1.13, 3.1.1.14.

    A transaction that is not prepared is not on disk, so a crash aborts it (MS-MQDMPR 3.1.3). A prepared
    transaction has the entry ``transaction:guid`` and the entries of its messages. The keys of the entry
    ``transaction:guid`` are ``number`` (20 bits) and ``operations``. Each operation contains a type and the key of
    the message. A Dequeue also contains its reason (a message class), and a Move contains its target queue.
    """

    __slots__ = ()

    def build_prepare_record(self, transaction: Transaction) -> Change:
        """Build the record that stores the vote of the queue manager about a transaction on the disk. The record
        contains the messages to be sent and the other pending operations.
        """
        change: Change = {"last_transaction": self.qm.adm.last_transaction_number}
        operations = _list_current_operations(transaction)
        for operation in operations:
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.ENQUEUE:
                position.key = position.key or self.qm.assign_persist_token()
                change |= self._build_entry(position)
            else:
                change |= self.qm.durable_records.build_purge_record([position])
        described = [_describe_operation(operation) for operation in operations]
        return change | {_format_entry_name(transaction): {"number": transaction.number, "operations": described}}

    def build_commit_record(self, transaction: Transaction) -> Change:
        """Build the record that commits a transaction.

        After a crash, the disk has either the whole record or no part of it. The record does not contain the
        messages to other queue managers. ``MessageSending.accept_outgoing_message`` numbers each of these messages and
        writes its entry, because a restart restores messages in the order in which their entries were written.
        """
        if not self.qm.disk.used:
            return {}
        change: Change = (
            {_format_entry_name(transaction): None} if transaction.state is TransactionState.PREPARED else {}
        )
        for operation in _list_current_operations(transaction):
            change |= _COMMIT_CHANGE_BUILDERS[operation.OperationType](self)(operation)
        return change

    def build_abort_record(self, transaction: Transaction) -> Change:
        """Build the record that erases a transaction from the disk. The record is empty if the transaction is not
        on the disk.
        """
        if not self.qm.disk.used or transaction.state is not TransactionState.PREPARED:
            return {}
        change: Change = {_format_entry_name(transaction): None}
        for operation in _list_current_operations(transaction):
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.ENQUEUE:
                change |= build_removal_change([position])
            elif position.State is MessagePositionState.PURGE_PENDING:
                change |= self.qm.durable_records.build_message_removal(
                    [position], MessageClass.MQMSG_CLASS_NACK_Q_PURGED
                )
        return change

    def restore_transaction(self, rest: str, value: Any) -> None:
        """Restore a prepared transaction, which is in doubt until its coordinator resolves it. Spec: MS-MQDMPR
        3.1.3.

        If a message of the transaction is missing, it was purged before it was sent.
        """
        transaction = Transaction(UUID(rest), SinglePhase=False, number=int(value["number"]))
        transaction.state = TransactionState.PREPARED
        positions = {position.key: position for position in self._list_message_positions()}
        for kind, key, *argument in value["operations"]:
            position = positions.get(key)
            if position is None:
                continue
            operation = TransactionalOperation(OperationType(kind), position)
            if operation.OperationType is OperationType.DEQUEUE:
                operation.DequeueReason = MessageClass(argument[0])
            elif operation.OperationType is OperationType.MOVE:
                operation.TargetQueueReference = self.qm.destination_resolving.find_queue_of_saved_message(argument[0])
            if position.State is not MessagePositionState.PURGE_PENDING:
                position.State = MessagePositionState.LOCKED
            _withhold_message(position)
            transaction.TransactionalOperationCollection.append(operation)
        self.qm.adm.TransactionCollection[transaction.Identifier] = transaction

    def _list_message_positions(self) -> Iterator[MessagePosition]:
        for queue in self.qm.queue_names.list_every_queue():
            yield from queue.MessagePositionList
        for outgoing in self.qm.adm.OutgoingQueues.values():
            yield from (one.MessagePosition for one in outgoing.session.OutgoingMessageTable)

    def _build_entry(self, position: MessagePosition) -> Change:
        message = position.MessageReference
        entry = build_message_entry(position, serialize_message(message).build())
        return self.qm.disk.build_ordinal_reservation(message.Identifier.Ordinal) | entry

    def _build_enqueue_change(self, operation: TransactionalOperation) -> Change:
        position = operation.MessagePositionReference
        if isinstance(position.QueueReference, OutgoingQueue):
            return build_removal_change([position])
        return self._build_entry(position) | {"last_transaction": self.qm.adm.last_transaction_number}

    def _build_dequeue_change(self, operation: TransactionalOperation) -> Change:
        assert operation.DequeueReason is not None
        return self.qm.durable_records.build_message_removal(
            [operation.MessagePositionReference], operation.DequeueReason
        )

    def _build_move_change(self, operation: TransactionalOperation) -> Change:
        position, target = (
            operation.MessagePositionReference,
            self.qm.transaction_operations.get_target_queue_of_move(operation),
        )
        if target is None:
            return {}
        there = MessagePosition(position.MessageReference, target, order_queue=position.order_queue, key=position.key)
        there.LookupIdentifier = position.LookupIdentifier
        return self.qm.durable_records.build_message_removal(
            [position], MessageClass.MQMSG_CLASS_NORMAL
        ) | build_message_relocation(there)


def list_outgoing_messages(transaction: Transaction) -> list[tuple[OutgoingQueue, MessagePosition]]:
    """Return the messages that a transaction sends to other queue managers, with their queues."""
    positions = (
        operation.MessagePositionReference
        for operation in transaction.TransactionalOperationCollection
        if operation.OperationType is OperationType.ENQUEUE
    )
    return [(one.QueueReference, one) for one in positions if isinstance(one.QueueReference, OutgoingQueue)]


def _withhold_message(position: MessagePosition) -> None:
    """Remove a restored message from OutgoingMessageTable, so that it is not sent before its transaction commits."""
    queue = position.QueueReference
    if isinstance(queue, OutgoingQueue):
        for outgoing in queue.session.OutgoingMessageTable:
            if outgoing.MessagePosition is position:
                queue.session.OutgoingMessageTable.remove(outgoing)


def _list_current_operations(transaction: Transaction) -> list[TransactionalOperation]:
    """Return the operations of a transaction, except the operations on messages that were deleted."""
    return [
        operation
        for operation in transaction.TransactionalOperationCollection
        if operation.MessagePositionReference.State is not MessagePositionState.DELETED
    ]


def _format_entry_name(transaction: Transaction) -> str:
    return f"transaction:{transaction.Identifier}"


def _describe_operation(operation: TransactionalOperation) -> list[object]:
    described: list[object] = [operation.OperationType.value, operation.MessagePositionReference.key]
    if operation.DequeueReason is not None:
        described.append(int(operation.DequeueReason))
    if operation.TargetQueueReference is not None:
        described.append(format_queue_name_of_entry(operation.TargetQueueReference))
    return described


_COMMIT_CHANGE_BUILDERS: Mapping[
    OperationType, Callable[[TransactionRecords], Callable[[TransactionalOperation], Change]]
] = {
    OperationType.ENQUEUE: lambda part: part._build_enqueue_change,
    OperationType.DEQUEUE: lambda part: part._build_dequeue_change,
    OperationType.MOVE: lambda part: part._build_move_change,
}
