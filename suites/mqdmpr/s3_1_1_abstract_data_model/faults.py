"""Faults of MS-MQDMPR 3.1.1 Abstract Data Model: restarts, and elements that only the model shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid5

from harness.faults.calls import with_arguments
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.inspection import Inspection
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.surviving_queues import SurvivingQueues
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.store.entries import build_relocation
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import Answered
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.surface.clock import Now

PERSISTENCE_RULES = ("MQDMPR-3.1.1-01", "MQDMPR-3.1.1-02", "MQDMPR-3.1.1-03", "MQDMPR-3.1.1.2-01")


@fault("queue-label-lost-at-restart", breaks=PERSISTENCE_RULES)
class QueueLabelLostAtRestart(SurvivingQueues):
    """After a restart, a queue has lost its label and its journaling."""

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        super().restore(place, {**values, "Label": "", "Journaling": False})


@fault("queue-base-priority-lost-at-restart", breaks=PERSISTENCE_RULES)
class QueueBasePriorityLostAtRestart(SurvivingQueues):
    """A queue has base priority 0 after a restart."""

    def restore(self, place: str, values: Mapping[str, Any]) -> None:
        super().restore(place, {**values, "BasePriority": 0})


def _change_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = uuid5(qm.adm.Identifier, "another")


add(
    "queue-manager-identifier-changes-at-restart",
    ("MQDMPR-3.1.1-03", "MQDMPR-3.1.1-05"),
    "The queue manager has a new Identifier after each restart.",
    at_restart(_change_identifier),
)


@fault("express-message-survives-restart", breaks="MQDMPR-3.1.1-04")
class ExpressMessageSurvivesRestart(Positions):
    """An express message is still in its queue after a restart."""

    def message_available(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and not position.key:
            position.key = self.qm.next_persist_token()
            self.qm.disk.save(build_relocation(position))
        super().message_available(position)


@fault("remote-read-deletes-before-acknowledgment", breaks="MQDMPR-3.1.1.11-07")
class RemoteReadDeletesBeforeAcknowledgment(Reading):
    """A message that a remote reader receives is deleted from disk before the reader acknowledges it."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        super().take_message_out(position, transaction, two_phase_read, answered)
        if two_phase_read:
            self.qm.disk.save(self.qm.durability.build_removal([position], MessageClass.MQMSG_CLASS_ACK_RECEIVE))


@fault("model-identifier-differs-from-packets", breaks="MQDMPR-3.1.1-06")
class ModelIdentifierDiffersFromPackets(Inspection):
    """The Identifier of LocalQueueManager differs from the identifier in packets."""

    def inspect(self, now: Now) -> dict[str, Any]:
        shown = super().inspect(now)
        shown["QueueManager"]["Identifier"] = str(uuid5(self.qm.adm.Identifier, "another"))
        return shown


@fault("remote-receive-leaves-message", breaks="MQDMPR-3.1.1-07")
class RemoteReceiveLeavesMessage(RemoteEnding):
    """A message that a remote reader has received stays in the queue for other readers."""

    def is_delivered(self, ack: int) -> bool:
        return False


add(
    "pending-read-without-cursor-reference",
    "MQDMPR-3.1.1.10-02",
    "A pending read by a cursor has no CursorReference.",
    with_arguments(Waiting.wait_for_new_message, cursor=lambda given: None),
)


def _change_added_operation(change: Callable[[TransactionalOperation], None]) -> Install:
    """Build a fault that changes each operation when it is added to a transaction."""

    class Changed(TransactionOperations):
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

    return replace_part(Changed)


def _change_operation_type(kind: OperationType, other: OperationType) -> Install:
    def change_operation(operation: TransactionalOperation) -> None:
        if operation.OperationType is kind:
            operation.OperationType = other

    return _change_added_operation(change_operation)


def _clear_target_queue(operation: TransactionalOperation) -> None:
    operation.TargetQueueReference = None


def _clear_dequeue_reason(operation: TransactionalOperation) -> None:
    operation.DequeueReason = None


def _set_dequeue_reason(operation: TransactionalOperation) -> None:
    operation.DequeueReason = MessageClass.MQMSG_CLASS_ACK_RECEIVE


ENQUEUE, DEQUEUE, MOVE = OperationType.ENQUEUE, OperationType.DEQUEUE, OperationType.MOVE
for _name, _rule, _says, _install in (
    (
        "transaction-operation-of-send-listed-as-move",
        "MQDMPR-3.1.1.13-03",
        ("The queue manager adds an operation of type Move for a message that is sent in a transaction."),
        _change_operation_type(ENQUEUE, MOVE),
    ),
    (
        "transaction-operation-of-receive-listed-as-move",
        "MQDMPR-3.1.1.13-04",
        "The queue manager adds an operation of type Move for a message that is received in a transaction.",
        _change_operation_type(DEQUEUE, MOVE),
    ),
    (
        "transaction-operation-of-move-listed-as-dequeue",
        "MQDMPR-3.1.1.13-05",
        "The queue manager adds an operation of type Dequeue for a message that is moved in a transaction.",
        _change_operation_type(MOVE, DEQUEUE),
    ),
    (
        "transaction-operation-of-move-has-no-target-queue",
        "MQDMPR-3.1.1.13-06",
        "The queue manager adds an operation of type Move without a TargetQueueReference.",
        _change_added_operation(_clear_target_queue),
    ),
    (
        "transaction-operation-of-receive-has-no-reason",
        "MQDMPR-3.1.1.13-07",
        "The queue manager adds an operation of type Dequeue without a DequeueReason.",
        _change_added_operation(_clear_dequeue_reason),
    ),
    (
        "transaction-operations-of-send-and-move-have-reason",
        "MQDMPR-3.1.1.13-07",
        "The queue manager adds operations of type Enqueue and Move with a DequeueReason.",
        _change_added_operation(_set_dequeue_reason),
    ),
):
    add(_name, _rule, _says, _install)
