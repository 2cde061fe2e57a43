"""Faults of MS-MQDMPR 3.1.1 Abstract Data Model that only special cases show: the order of messages, and changed
attributes, after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.transactions import Transaction
from reference_qm.surface.commands import Result


def _sort_messages(key: Callable[[MessagePosition], Any], condition: Callable[[Queue], bool]) -> Any:
    def sort_every_queue(qm: QueueManager) -> None:
        for queue in qm.queue_names.every_queue():
            messages = list(queue.MessagePositionList)
            if len(messages) < 2 or not condition(queue):
                continue
            for one in messages:
                queue.MessagePositionList.remove(one)
            for one in sorted(messages, key=key):
                again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
                again.key, again.order_queue = one.key, one.order_queue
                queue.MessagePositionList.insert(again)
                qm.positions.message_available(again)

    return at_restart(sort_every_queue)


add(
    "queue-manager-moved-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the messages of a subqueue are in the order of their LookupIdentifiers, not in the order in "
    "which they were moved.",
    _sort_messages(lambda one: one.LookupIdentifier, lambda queue: queue.parent is not None),
)
add(
    "queue-manager-journaled-messages-in-other-order-after-restart",
    "MQDMPR-3.1.1.11-07",
    "After a restart, the messages with the same priority in a queue are in reverse order.",
    _sort_messages(lambda one: -one.order, lambda queue: queue.parent is None),
)


@fault("queue-manager-changed-attribute-of-queue-lost-at-restart", breaks="MQDMPR-3.1.1-02")
class ChangeNotSaved(QueueCommands):
    """A change to an attribute of an existing queue is lost at a restart."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        entry = self.qm.durability.queue_entry(queue)
        answer = super()._change_attributes(queue, changes, token)
        self.qm.disk.save(entry)
        return answer


@fault("transaction-second-move-refers-to-target-of-first", breaks="MQDMPR-3.1.1.13-06")
class FirstTargetForAll(TransactionOperations):
    """The TargetQueueReference of each Move operation of a transaction is the target queue of the transaction's first
    Move operation.
    """

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        moves = [one.TargetQueueReference for one in transaction.TransactionalOperationCollection]
        first = next((one for one in moves if one is not None), target)
        super().move_in_transaction(transaction, position, first)
