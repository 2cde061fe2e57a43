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

LOW_SEVEN_BYTES_MASK = (1 << 56) - 1


@fault("message-position-refers-to-previous-message", breaks="MQDMPR-3.1.7.1.9-09")
class MessagePositionRefersToPreviousMessage(Positions):
    """The MessagePosition of a new message refers to the previously enqueued message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: Message | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before, self._before = self._before, message
        return super().insert_message(queue, before or message)


@fault("sequential-id-not-incremented", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class SequentialIdNotIncremented(Positions):
    """The queue manager does not increment SequentialID, so all messages have the same value."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return lookup_identifier(message, self.qm.adm.SequentialID)


@fault("lookup-identifier-low-bytes-descending", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class LookupIdentifierLowBytesDescending(Positions):
    """The low bytes of the LookupIdentifiers decrease from each message to the next."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return super().assign_lookup_identifier(message) ^ LOW_SEVEN_BYTES_MASK


@fault("lookup-identifier-high-byte-8-minus-priority", breaks=("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12"))
class LookupIdentifierHighByte8MinusPriority(Positions):
    """The high byte of a LookupIdentifier is 8 minus the priority."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return (8 - message.Priority) << 56 | super().assign_lookup_identifier(message) & LOW_SEVEN_BYTES_MASK


@fault("message-inserted-at-end-of-queue", breaks="MQDMPR-3.1.7.1.9-14")
class MessageInsertedAtEndOfQueue(Positions):
    """The queue manager inserts a message at the end of its queue, regardless of its priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("local-send-in-transaction-visible-before-commit", breaks="MQDMPR-3.1.7.1.9-17")
class LocalSendInTransactionVisibleBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive a message that a transaction sends to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            self.qm.positions.message_available(position)
        return position


@fault("local-send-not-listed-in-transaction", breaks=("MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21"))
class LocalSendNotListedInTransaction(TransactionOperations):
    """The queue manager adds no operation to a transaction for a message that the transaction sends locally."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            transaction.TransactionalOperationCollection.pop()
        return position


add(
    "timer-of-time-to-be-received-not-started",
    "MQDMPR-3.1.7.1.9-15",
    "The queue manager does not start the timer of TimeToBeReceived when a message enters its queue.",
    skip(Lifetimes.watch_received),
)


@fault("local-send-returns-error", breaks="MQDMPR-3.1.7.1.9-26")
class LocalSendReturnsError(Enqueueing):
    """The queue manager returns an error for a message although it stored the message in a local queue."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        super().put_message(queue, message, None, result, now)
        if isinstance(queue, OutgoingQueue):
            return result
        raise CommandError("the quota of the queue is exceeded: receive messages first")
