"""Faults of MS-MQSO 5.5.1: messages of undecided transactions and of paused queues, and sequences of the sender."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition
from reference_qm.model.transactions import Transaction


@fault("queue-manager-message-received-in-undecided-transaction-lost-at-restart", breaks="MQSO-5.5.1-03")
class QueueManagerMessageReceivedInUndecidedTransactionLostAtRestart(TransactionOperations):
    """A message that a transaction has received is lost if the queue manager restarts before the transaction ends."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        if position.key:
            self.qm.disk.save(build_removal_change([position]))


def _begin_numbers_again(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        queue.session.OutgoingTxSequenceNumber = 1


add(
    "sender-sequence-numbers-begin-again-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the sender continues its sequences with the number 1.",
    at_restart(_begin_numbers_again),
)


def _forget_large_messages(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        for position in list(queue.MessagePositionList):
            if len(position.MessageReference.Body) > 60_000:
                queue.MessagePositionList.remove(position)


add(
    "queue-manager-large-message-lost-at-restart",
    "MQSO-5.5.1-03",
    "At a restart, the queue manager loses the messages of local queues whose body has more than 60,000 bytes.",
    at_restart(_forget_large_messages),
)
