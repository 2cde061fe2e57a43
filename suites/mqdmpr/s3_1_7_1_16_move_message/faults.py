"""Faults of MS-MQDMPR 3.1.7.1.16 Move Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import Transaction


def _is_application_queue(queue: Queue) -> bool:
    """Return whether a queue belongs to an application; applications can move the messages of such a queue."""
    return queue.QueueType is not QueueType.SYSTEM


@fault("move-leaves-source-message", breaks="MQDMPR-3.1.7.1.16-05")
class MoveLeavesSourceMessage(Positions):
    """When a message is moved, the queue manager also leaves the message in its source queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if not _is_application_queue(queue):
            return super().move_message(position, queue)
        there = super().insert_message(queue, position.MessageReference)
        self.qm.positions.message_available(there)
        return there


@fault("move-drops-body", breaks="MQDMPR-3.1.7.1.16-06")
class MoveDropsBody(Positions):
    """When a message is moved, the queue manager drops the message's body."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is not None and _is_application_queue(queue):
            there.MessageReference = replace(there.MessageReference, Body=b"")
        return there


@fault("move-appends-to-target", breaks="MQDMPR-3.1.7.1.16-07")
class MoveAppendsToTarget(Positions):
    """The queue manager inserts a moved message as the last message of the target queue, regardless of its priority."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        message = position.MessageReference
        if _is_application_queue(queue):
            position.MessageReference = replace(message, Priority=0)
        there = super().move_message(position, queue)
        if there is not None and _is_application_queue(queue):
            there.MessageReference = message
        return there


@fault("move-resets-priority", breaks=("MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07"))
class MoveResetsPriority(Positions):
    """When a message is moved, the queue manager sets the message's priority to the lowest priority."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if _is_application_queue(queue):
            position.MessageReference = replace(position.MessageReference, Priority=0)
        return super().move_message(position, queue)


@fault("move-in-transaction-does-not-lock", breaks="MQDMPR-3.1.7.1.16-D02")
class MoveInTransactionDoesNotLock(TransactionOperations):
    """Before the commit, other readers can receive a message that a transaction moves."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        position.State = MessagePositionState.AVAILABLE


@fault("move-in-transaction-takes-effect-at-once", breaks=("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03"))
class MoveInTransactionTakesEffectAtOnce(TransactionOperations):
    """Before the commit, the queue manager already inserts a message that a transaction moves into its target queue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        self.qm.positions.move_message(position, target)
