"""Faults of MS-MQSO 3.3.4 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.transactions import Transaction


@fault("queue-manager-uncommitted-message-visible-to-peek", breaks="MQSO-3.3.4.4-D01", blind=True)
class QueueManagerUncommittedMessageVisibleToPeek(TransactionOperations):
    """A peek finds a message that an open transaction has sent to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        position.MessageReference = replace(position.MessageReference, AllowPeekWhenLocked=True)
        return position
