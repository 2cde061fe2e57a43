"""Faults of MS-MQDMPR 3.1.1 Abstract Data Model in which only some elements are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.transactions import OperationType, Transaction


@fault("second-change-of-queue-not-saved", breaks="MQDMPR-3.1.1-02", blind=True)
class SecondChangeOfQueueNotSaved(DurableRecords):
    """The queue manager saves a queue only at its creation and at its first change, so later changes are lost at a
    restart.
    """

    def __init__(self, qm: Any) -> None:
        super().__init__(qm)
        self.saved: dict[str, Change] = {}
        self.counts: dict[str, int] = {}

    def build_queue_entry(self, queue: Queue) -> Change:
        change: Change = super().build_queue_entry(queue)
        self.counts[queue.Pathname] = self.counts.get(queue.Pathname, 0) + 1
        if self.counts[queue.Pathname] <= 2:
            self.saved[queue.Pathname] = change
        return self.saved[queue.Pathname]


@fault("express-message-of-local-application-saved-to-disk", breaks="MQDMPR-3.1.1-04", blind=True)
class ExpressMessageOfLocalApplicationSavedToDisk(DurableRecords):
    """The queue manager saves an express message of a local application to disk like a recoverable message."""

    def build_send_record(self, position: MessagePosition) -> Change:
        message = position.MessageReference
        if message.DeliveryGuarantee is not DeliveryGuarantee.EXPRESS:
            return super().build_send_record(position)
        position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        return super().build_send_record(position)


def _change_identifier_if_outgoing_queues_exist(qm: QueueManager) -> None:
    if qm.adm.OutgoingQueues:
        qm.adm.Identifier = UUID(int=qm.adm.Identifier.int ^ 1)


add(
    "identifier-of-queue-manager-with-outgoing-queues-changed-at-restart",
    "MQDMPR-3.1.1-05",
    "The queue manager has a new Identifier after a restart if it has outgoing queues.",
    change_core_at_restart(_change_identifier_if_outgoing_queues_exist),
    blind=True,
)


@fault("restored-messages-of-subqueue-put-in-order-of-arrival", breaks="MQDMPR-3.1.1.11-07", blind=True)
class RestoredMessagesOfSubqueuePutInOrderOfArrival(StateRestoring):
    """At a restart, the queue manager puts the messages of subqueues into their queues in order of their arrival."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        super()._insert_message(position, lookup_identifier)
        messages = position.QueueReference.MessagePositionList
        others = [one for one in messages if one.LookupIdentifier > position.LookupIdentifier]
        for one in others if position.QueueReference.parent is not None else ():
            messages.remove(one)
            again = MessagePosition(one.MessageReference, one.QueueReference, one.State, key=one.key)
            again.LookupIdentifier = one.LookupIdentifier
            messages.insert(again)


@fault("second-move-of-transaction-has-target-of-first", breaks="MQDMPR-3.1.1.13-06", blind=True)
class SecondMoveOfTransactionHasTargetOfFirst(TransactionOperations):
    """The second Move operation of a transaction has the TargetQueueReference of the first."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        moves = [one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.MOVE]
        first = moves[0].TargetQueueReference if moves else None
        super().move_in_transaction(transaction, position, target if first is None else first)


@fault("enqueue-after-dequeue-has-dequeue-reason", breaks="MQDMPR-3.1.1.13-07", blind=True)
class EnqueueAfterDequeueHasDequeueReason(TransactionOperations):
    """An Enqueue operation after a Dequeue operation has the DequeueReason of that operation."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        operations = transaction.TransactionalOperationCollection
        reasons = [one.DequeueReason for one in operations if one.OperationType is OperationType.DEQUEUE]
        if reasons:
            operations[-1].DequeueReason = reasons[-1]
        return position


@fault("dequeue-of-second-message-recorded-as-move", breaks="MQDMPR-3.1.1.13-04", blind=True)
class DequeueOfSecondMessageRecordedAsMove(TransactionOperations):
    """The second Dequeue operation of a transaction is recorded as a Move to the queue of the message."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operations = transaction.TransactionalOperationCollection
        if sum(one.OperationType is OperationType.DEQUEUE for one in operations) == 2:
            operations[-1].OperationType = OperationType.MOVE
            operations[-1].TargetQueueReference = position.QueueReference


@fault("server-receive-from-journaling-queue-recorded-as-move", breaks="MQDMPR-3.1.1.13-04", blind=True)
class ServerReceiveFromJournalingQueueRecordedAsMove(TransactionOperations):
    """When a transaction receives a message from a queue with Journaling, the queue manager records a Move to the
    journal instead of a Dequeue.
    """

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        queue = position.QueueReference
        if queue.Journaling and queue.JournalQueueReference is not None:
            self.move_in_transaction(transaction, position, queue.JournalQueueReference)
        else:
            super().dequeue_in_transaction(transaction, position)
