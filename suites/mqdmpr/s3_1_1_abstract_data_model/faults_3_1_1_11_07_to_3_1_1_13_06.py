"""Faults that break the rules MQDMPR-3.1.1.11-07 to MQDMPR-3.1.1.13-06."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.store.entries import build_message_relocation
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_1_abstract_data_model.fault_steps import LastTransactionOperationChanger


@fault("server-deletes-message-of-remote-receive-before-acknowledgment", breaks="MQDMPR-3.1.1.11-07")
class ServerDeletesMessageOfRemoteReceiveBeforeAcknowledgment(MessageReading):
    """A message that a remote reader receives is deleted from disk before the reader acknowledges it."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        super().take_message_out(position, transaction, two_phase_read, answered)
        if two_phase_read:
            self.qm.disk.save(
                self.qm.durable_records.build_message_removal([position], MessageClass.MQMSG_CLASS_ACK_RECEIVE)
            )


def _sort_messages_at_restart(key: Callable[[MessagePosition], Any], condition: Callable[[Queue], bool]) -> Any:
    def sort_every_queue(qm: QueueManager) -> None:
        for queue in qm.queue_names.list_every_queue():
            messages = list(queue.MessagePositionList)
            if len(messages) < 2 or not condition(queue):
                continue
            for one in messages:
                queue.MessagePositionList.remove(one)
            for one in sorted(messages, key=key):
                again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
                again.key, again.order_queue = one.key, one.order_queue
                queue.MessagePositionList.insert(again)
                qm.message_positions.on_message_available(again)

    return change_core_at_restart(sort_every_queue)


add(
    "queue-manager-moved-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the messages of a subqueue are in the order of their LookupIdentifiers, not in the order in "
    "which they were moved.",
    _sort_messages_at_restart(lambda one: one.LookupIdentifier, lambda queue: queue.parent is not None),
)


add(
    "queue-manager-journaled-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the queue manager restores messages of the same priority in reverse order.",
    _sort_messages_at_restart(lambda one: -one.order, lambda queue: queue.parent is None),
)


add(
    "queue-manager-messages-of-journal-in-reverse-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the queue manager restores the messages in the journal of a queue in reverse order.",
    _sort_messages_at_restart(
        lambda one: -one.order, lambda queue: queue.parent is not None and queue.QueueType is QueueType.SYSTEM
    ),
    blind=True,
)


@fault("queue-manager-message-moved-back-restored-in-subqueue", breaks="MQDMPR-3.1.1.11-07", blind=True)
class QueueManagerMessageMovedBackRestoredInSubqueue(QueueCommands):
    """After a restart, a message that was moved to a subqueue and back to its queue is in the subqueue."""

    def move_message(self, request: Any, token: int, now: Any) -> Result | None:
        source, target = (self.qm.queue_names.find_queue(one) for one in (request.queue, request.to))
        answer = super().move_message(request, token, now)
        position = target.MessagePositionList.find(request.lookup_id)
        if position is not None and source.parent is target and position.key:
            place = MessagePosition(position.MessageReference, source, LookupIdentifier=position.LookupIdentifier)
            place.key = position.key
            self.qm.disk.save(build_message_relocation(place))
        return answer


@fault("queue-manager-message-moved-to-waiting-reader-restored-in-subqueue", breaks="MQDMPR-3.1.1.11-07")
class QueueManagerMessageMovedToWaitingReaderRestoredInSubqueue(MessagePositions):
    """After a restart, the queue manager restores a message that was moved to a subqueue and received there by a
    waiting reader.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None and target.State is not MessagePositionState.AVAILABLE:
            self.qm.disk.save(build_message_relocation(target))
        return target


@fault("in-doubt-transaction-received-message-available-after-restart", breaks="MQDMPR-3.1.1.11-07", blind=True)
class InDoubtTransactionReceivedMessageAvailableAfterRestart(TransactionRecords):
    """After a restart, another reader can receive a message that a prepared transaction received."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        super().restore_transaction(rest, value)
        for transaction in self.qm.adm.TransactionCollection.values():
            for one in transaction.TransactionalOperationCollection:
                if one.DequeueReason is not None and one.MessagePositionReference.State is MessagePositionState.LOCKED:
                    one.MessagePositionReference.State = MessagePositionState.AVAILABLE


@fault("restart-restores-messages-of-same-priority-newest-first", breaks="MQDMPR-3.1.1.11-07")
class RestartRestoresMessagesOfSamePriorityNewestFirst(StateRestoring):
    """After a restart, the queue manager puts a message of a priority other than 3 before the older messages of its
    priority.
    """

    def _restore_message(self, rest: str, value: Any) -> None:
        place = (
            None
            if value["in"].startswith("outgoing:")
            else self.qm.destination_resolving.find_queue_of_saved_message(value["in"])
        )
        if place is None:
            super()._restore_message(rest, value)
            return
        positions = place.MessagePositionList
        kept = list(positions._last)
        for priority in (0, 1, 2, 4, 5, 6, 7):
            positions._last[priority] = None
        super()._restore_message(rest, value)
        for priority in (0, 1, 2, 4, 5, 6, 7):
            positions._last[priority] = kept[priority] or positions._last[priority]


def _change_added_operation(change: Callable[[TransactionalOperation], None]) -> Install:
    """Build a fault that changes each operation when it is added to a transaction."""

    class AddedOperationChanger(TransactionOperations):
        def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
            position = super().enqueue_in_transaction(transaction, queue, message)
            change(transaction.TransactionalOperationCollection[-1])
            return position

        def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
            super().dequeue_in_transaction(transaction, position)
            change(transaction.TransactionalOperationCollection[-1])

        def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
            super().move_in_transaction(transaction, position, target)
            change(transaction.TransactionalOperationCollection[-1])

    return replace_part(AddedOperationChanger)


def _change_operation_type(kind: OperationType, other: OperationType) -> Install:
    def change_type_of_operation(operation: TransactionalOperation) -> None:
        if operation.OperationType is kind:
            operation.OperationType = other

    return _change_added_operation(change_type_of_operation)


def _clear_target_queue_of_operation(operation: TransactionalOperation) -> None:
    operation.TargetQueueReference = None


def _clear_dequeue_reason_of_operation(operation: TransactionalOperation) -> None:
    operation.DequeueReason = None


def _set_wrong_dequeue_reason(operation: TransactionalOperation) -> None:
    operation.DequeueReason = MessageClass.MQMSG_CLASS_ACK_RECEIVE


ENQUEUE_OPERATION = OperationType.ENQUEUE


DEQUEUE_OPERATION = OperationType.DEQUEUE


MOVE_OPERATION = OperationType.MOVE


for _name, _rule, _says, _install in (
    (
        "transaction-operation-of-send-listed-as-move",
        "MQDMPR-3.1.1.13-03",
        ("The queue manager adds an operation of type Move for a message that is sent in a transaction."),
        _change_operation_type(ENQUEUE_OPERATION, MOVE_OPERATION),
    ),
    (
        "transaction-operation-of-receive-listed-as-move",
        "MQDMPR-3.1.1.13-04",
        "The queue manager adds an operation of type Move for a message that is received in a transaction.",
        _change_operation_type(DEQUEUE_OPERATION, MOVE_OPERATION),
    ),
    (
        "transaction-operation-of-move-listed-as-dequeue",
        "MQDMPR-3.1.1.13-05",
        "The queue manager adds an operation of type Dequeue for a message that is moved in a transaction.",
        _change_operation_type(MOVE_OPERATION, DEQUEUE_OPERATION),
    ),
    (
        "transaction-operation-of-move-has-no-target-queue",
        "MQDMPR-3.1.1.13-06",
        "The queue manager adds an operation of type Move without a TargetQueueReference.",
        _change_added_operation(_clear_target_queue_of_operation),
    ),
    (
        "transaction-operation-of-receive-has-no-reason",
        "MQDMPR-3.1.1.13-07",
        "The queue manager adds an operation of type Dequeue without a DequeueReason.",
        _change_added_operation(_clear_dequeue_reason_of_operation),
    ),
    (
        "transaction-operations-of-send-and-move-have-reason",
        "MQDMPR-3.1.1.13-07",
        "The queue manager adds operations of type Enqueue and Move with a DequeueReason.",
        _change_added_operation(_set_wrong_dequeue_reason),
    ),
):
    add(_name, _rule, _says, _install)


@fault("transaction-second-enqueue-recorded-as-dequeue", breaks="MQDMPR-3.1.1.13-03")
class TransactionSecondEnqueueRecordedAsDequeue(LastTransactionOperationChanger):
    """The queue manager records the second message that is sent in a transaction as an operation of type Dequeue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        operations = transaction.TransactionalOperationCollection
        if sum(one.OperationType is OperationType.ENQUEUE for one in operations) == 2:
            self.change_last_operation(transaction, OperationType=OperationType.DEQUEUE)
        return position


@fault("transaction-enqueue-to-outgoing-queue-recorded-as-move", breaks="MQDMPR-3.1.1.13-03")
class TransactionEnqueueToOutgoingQueueRecordedAsMove(LastTransactionOperationChanger):
    """The queue manager records a message that is sent to another computer as an operation of type Move."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if isinstance(queue, OutgoingQueue):
            self.change_last_operation(transaction, OperationType=OperationType.MOVE)
        return position


@fault("transaction-dequeue-after-enqueue-recorded-as-enqueue", breaks="MQDMPR-3.1.1.13-04")
class TransactionDequeueAfterEnqueueRecordedAsEnqueue(LastTransactionOperationChanger):
    """The queue manager records a receive as an operation of type Enqueue, if the transaction has sent a message."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        if any(one.OperationType is OperationType.ENQUEUE for one in operations):
            self.change_last_operation(transaction, OperationType=OperationType.ENQUEUE)


@fault("transaction-second-move-recorded-as-dequeue", breaks="MQDMPR-3.1.1.13-05")
class TransactionSecondMoveRecordedAsDequeue(LastTransactionOperationChanger):
    """The queue manager records the second move in a transaction as an operation of type Dequeue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        moves = [one for one in transaction.TransactionalOperationCollection if one.TargetQueueReference is not None]
        if len(moves) == 2:
            self.change_last_operation(transaction, OperationType=OperationType.DEQUEUE)


@fault("transaction-later-moves-refer-to-target-queue-of-first-move", breaks="MQDMPR-3.1.1.13-06")
class TransactionLaterMovesReferToTargetQueueOfFirstMove(TransactionOperations):
    """The TargetQueueReference of each Move operation of a transaction is the target queue of the transaction's first
    Move operation.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        moves = [one.TargetQueueReference for one in transaction.TransactionalOperationCollection]
        first = next((one for one in moves if one is not None), target)
        super().move_in_transaction(transaction, position, first)


@fault("transaction-later-moves-recorded-with-target-of-first-move", breaks="MQDMPR-3.1.1.13-06")
class TransactionLaterMovesRecordedWithTargetOfFirstMove(LastTransactionOperationChanger):
    """The queue manager records the target of the first move of a transaction for each later move."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        moves = [one for one in transaction.TransactionalOperationCollection if one.TargetQueueReference is not None]
        self.change_last_operation(transaction, TargetQueueReference=moves[0].TargetQueueReference)


@fault("queue-manager-restored-move-targets-current-queue-of-message", breaks="MQDMPR-3.1.1.13-06", blind=True)
class QueueManagerRestoredMoveTargetsCurrentQueueOfMessage(TransactionRecords):
    """After a restart, the TargetQueueReference of a Move in a prepared transaction is the queue of the message."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        known = set(self.qm.adm.TransactionCollection)
        super().restore_transaction(rest, value)
        for identifier, transaction in self.qm.adm.TransactionCollection.items():
            for operation in transaction.TransactionalOperationCollection if identifier not in known else []:
                if operation.OperationType is OperationType.MOVE:
                    operation.TargetQueueReference = operation.MessagePositionReference.QueueReference
