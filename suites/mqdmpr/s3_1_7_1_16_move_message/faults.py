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


def _is_application(queue: Queue) -> bool:
    """Return whether a queue is an application's; what becomes of other messages is no move of one."""
    return queue.QueueType is not QueueType.SYSTEM


@fault("move-copies", breaks="MQDMPR-3.1.7.1.16-05")
class Copies(Positions):
    """A message that is moved stays where it was, too."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if not _is_application(queue):
            return super().move_message(position, queue)
        there = super().insert_message(queue, position.MessageReference)
        self.qm.positions.message_available(there)
        return there


@fault("move-loses-the-body", breaks="MQDMPR-3.1.7.1.16-06")
class LosesTheBody(Positions):
    """A message that is moved arrives without its body."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is not None and _is_application(queue):
            there.MessageReference = replace(there.MessageReference, Body=b"")
        return there


@fault("move-to-the-end", breaks="MQDMPR-3.1.7.1.16-07")
class ToTheEnd(Positions):
    """A message that is moved comes behind all others of its target."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        message = position.MessageReference
        if _is_application(queue):
            position.MessageReference = replace(message, Priority=0)
        there = super().move_message(position, queue)
        if there is not None and _is_application(queue):
            there.MessageReference = message
        return there


@fault("move-loses-the-priority", breaks=("MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07"))
class LosesThePriority(Positions):
    """A message that is moved has the lowest priority then."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if _is_application(queue):
            position.MessageReference = replace(position.MessageReference, Priority=0)
        return super().move_message(position, queue)


@fault("moved-within-transaction-not-locked", breaks="MQDMPR-3.1.7.1.16-D02")
class NotLocked(TransactionOperations):
    """What is to be moved within a transaction can be received before that commits."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        position.State = MessagePositionState.AVAILABLE


@fault("moved-within-transaction-at-once", breaks=("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03"))
class AtOnce(TransactionOperations):
    """A message is moved at once, whatever becomes of the transaction."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        self.qm.positions.move_message(position, target)
