"""Faults of MS-MQDMPR 3.1.7.1.9 Enqueue Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.errors import CommandError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions, lookup_identifier
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

LOW_BYTES = (1 << 56) - 1


@fault("position-refers-to-the-message-before", breaks="MQDMPR-3.1.7.1.9-09")
class RefersToTheMessageBefore(Positions):
    """The place of a message refers to the message that came before it."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: Message | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before, self._before = self._before, message
        return super().insert_message(queue, before or message)


@fault("sequential-id-not-incremented", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class NotIncremented(Positions):
    """All messages have the same SequentialID: it is not incremented."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return lookup_identifier(message, self.qm.adm.SequentialID)


@fault("lookup-identifier-counts-down", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class CountsDown(Positions):
    """The low bytes of a LookupIdentifier are taken from the other end of the numbers."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return super().assign_lookup_identifier(message) ^ LOW_BYTES


@fault("lookup-identifier-priority-from-8", breaks=("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12"))
class PriorityFromEight(Positions):
    """The highest byte of every LookupIdentifier is 8 less the priority."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return (8 - message.Priority) << 56 | super().assign_lookup_identifier(message) & LOW_BYTES


@fault("queue-in-order-of-arrival", breaks="MQDMPR-3.1.7.1.9-14")
class InOrderOfArrival(Positions):
    """A message is put behind all others, whatever its priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("sent-within-transaction-received-at-once", breaks="MQDMPR-3.1.7.1.9-17")
class ReceivedAtOnce(TransactionOperations):
    """A message that is sent to a local queue within a transaction can be received before that commits."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            self.qm.positions.message_available(position)
        return position


@fault("sent-within-transaction-forgotten", breaks=("MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21"))
class Forgotten(TransactionOperations):
    """A transaction does not know of what is sent to a local queue within it."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            transaction.TransactionalOperationCollection.pop()
        return position


add(
    "time-to-be-received-not-started",
    "MQDMPR-3.1.7.1.9-15",
    "The time in which a message has to be received does not run.",
    skip(Lifetimes.watch_received),
)


@fault("local-send-told-as-failed", breaks="MQDMPR-3.1.7.1.9-26")
class ToldAsFailed(Enqueueing):
    """A message that is put into a local queue is told as refused."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        super().put_message(queue, message, None, result, now)
        if isinstance(queue, OutgoingQueue):
            return result
        raise CommandError("the quota of the queue is exceeded: receive messages first")
