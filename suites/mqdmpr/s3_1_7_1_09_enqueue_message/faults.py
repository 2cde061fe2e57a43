"""Faults that break rules of MS-MQDMPR 3.1.7.1.9 Enqueue Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, skip
from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion
from reference_qm.core.errors import CommandError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions, lookup_identifier
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-throttled-local-message-accepted", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerThrottledLocalMessageAccepted(Enqueueing):
    """A throttled queue manager refuses messages from other computers, but stores messages of its own applications."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            return super().admit_message(queue, message, now)
        finally:
            self.qm.adm.Throttled = throttled


@fault("queue-manager-own-quota-compared-with-single-queue", breaks="MQDMPR-3.1.7.1.9-04")
class QueueManagerOwnQuotaComparedWithSingleQueue(Quotas):
    """The queue manager compares QueueManagerQuota with the total size of the messages of only one queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        storage = queue.MessagePositionList.storage
        used, storage.used = storage.used, queue.MessagePositionList.TotalBytes
        status = super().check(queue, message)
        storage.used = used
        return status


@fault("queue-manager-throttled-send-in-transaction-accepted", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerThrottledSendInTransactionAccepted(Enqueueing):
    """While the queue manager is throttled, a local message to a transactional queue is accepted."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        throttled = self.qm.adm.Throttled
        self.qm.adm.Throttled = throttled and not queue.Transactional
        status = super().admit_message(queue, message, now)
        self.qm.adm.Throttled = throttled
        return status


@fault("queue-manager-quota-exceeded-by-one-message", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerQuotaExceededByOneMessage(Quotas):
    """The queue manager compares QueueManagerQuota with the size of the stored messages, without the size of the new
    message.
    """

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        storage = queue.MessagePositionList.storage
        used = storage.used
        if storage is not self.qm.adm.journal_storage:
            storage.used = max(0, used - len(message.Body) - 200)
        status = super().check(queue, message)
        storage.used = used
        return status


@fault("quota-of-queue-manager-ignores-transactional-messages", breaks="MQDMPR-3.1.7.1.9-04")
class QuotaOfQueueManagerIgnoresTransactionalMessages(Quotas):
    """The queue manager accepts transactional messages beyond QueueManagerQuota."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        exceeded = status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and queue.Transactional
        return EnqueueStatus.NO_ERROR if exceeded else status


def _forget_sizes(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.MessagePositionList.TotalBytes = 0


add(
    "queue-manager-messages-before-restart-do-not-count-for-quota",
    "MQDMPR-3.1.7.1.9-07",
    "After a restart, the queue manager does not count the messages that a queue already contains towards its Quota.",
    at_restart(_forget_sizes),
)


@fault("queue-manager-quota-of-queue-ignores-locked-messages", breaks="MQDMPR-3.1.7.1.9-07", blind=True)
class QueueManagerQuotaOfQueueIgnoresLockedMessages(Quotas):
    """The queue manager does not count the messages that open transactions have sent or received towards the Quota of
    their queue.
    """

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        positions = queue.MessagePositionList
        locked = sum(one.size for one in positions if one.State is MessagePositionState.LOCKED)
        positions.TotalBytes -= locked
        status = super().check(queue, message)
        positions.TotalBytes += locked
        return status


@fault("queue-manager-quota-of-queue-ignores-messages-without-body", breaks="MQDMPR-3.1.7.1.9-07", blind=True)
class QueueManagerQuotaOfQueueIgnoresMessagesWithoutBody(Quotas):
    """A message without a body never exceeds the Quota of its queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and len(message.Body) < 16:
            return EnqueueStatus.NO_ERROR
        return status


@fault("quota-of-queue-checked-only-when-reached", breaks="MQDMPR-3.1.7.1.9-07")
class QuotaOfQueueCheckedOnlyWhenReached(Quotas):
    """A queue whose messages do not reach its Quota accepts a message that exceeds the Quota."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        has_room = 0 < queue.TotalBytes < queue.Quota * 1024
        return EnqueueStatus.NO_ERROR if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and has_room else status


@fault("message-position-refers-to-previous-message", breaks="MQDMPR-3.1.7.1.9-09")
class MessagePositionRefersToPreviousMessage(Positions):
    """The MessagePosition of a new message refers to the previously enqueued message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: Message | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before, self._before = self._before, message
        return super().insert_message(queue, before or message)


@fault("queue-manager-second-message-of-transaction-refers-to-first", breaks="MQDMPR-3.1.7.1.9-09", blind=True)
class QueueManagerSecondMessageOfTransactionRefersToFirst(TransactionOperations):
    """The second local message of a transaction has the body of the first message."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        for one in transaction.TransactionalOperationCollection:
            if one.OperationType is OperationType.ENQUEUE:
                message = replace(message, Body=one.MessagePositionReference.MessageReference.Body)
                break
        return super().enqueue_in_transaction(transaction, queue, message)


@fault("sequential-id-not-incremented", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class SequentialIdNotIncremented(Positions):
    """The queue manager does not increment SequentialID, so all messages have the same value."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return lookup_identifier(message, self.qm.adm.SequentialID)


LOW_SEVEN_BYTES_MASK = (1 << 56) - 1


@fault("lookup-identifier-low-bytes-descending", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class LookupIdentifierLowBytesDescending(Positions):
    """The low bytes of the LookupIdentifiers decrease from each message to the next."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return super().assign_lookup_identifier(message) ^ LOW_SEVEN_BYTES_MASK


@fault("queue-manager-sequential-id-not-incremented-for-transactional-message", breaks="MQDMPR-3.1.7.1.9-10")
class QueueManagerSequentialIdNotIncrementedForTransactionalMessage(Positions):
    """The queue manager does not increment its SequentialID for a transactional message."""

    def assign_lookup_identifier(self, message: Message) -> int:
        before = self.qm.adm.SequentialID
        identifier = super().assign_lookup_identifier(message)
        if message.TransactionIdentifier is not None:
            self.qm.adm.SequentialID = before
        return identifier


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


@fault(
    "queue-manager-message-inserted-before-its-priority-while-last-is-locked", breaks="MQDMPR-3.1.7.1.9-14", blind=True
)
class QueueManagerMessageInsertedBeforeItsPriorityWhileLastIsLocked(Positions):
    """While a transaction has locked the last message of a priority, the queue manager inserts a new message of that
    priority before all messages of the priority.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last, priority = queue.MessagePositionList._last, message.Priority
        tail = last[priority]
        if tail is None or tail.State is not MessagePositionState.LOCKED or tail.awaits_disk:
            return super().insert_message(queue, message)
        last[priority] = None
        position = super().insert_message(queue, message)
        last[priority] = tail
        return position


@fault("queue-manager-local-send-ignores-priority", breaks="MQDMPR-3.1.7.1.9-14", blind=True)
class QueueManagerLocalSendIgnoresPriority(Enqueueing):
    """A local message that an application sends is inserted after the messages of lower priorities."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if not isinstance(queue, OutgoingQueue) and message.TransactionIdentifier is None:
            priorities = [one.MessageReference.Priority for one in queue.MessagePositionList]
            message = replace(message, Priority=min([message.Priority, *priorities]))
        return super().put_message(queue, message, token, result, now)


@fault("queue-manager-recoverable-local-message-lost-at-restart", breaks="MQDMPR-3.1.7.1.9-14", blind=True)
class QueueManagerRecoverableLocalMessageLostAtRestart(Durability):
    """At a restart, the queue manager loses a recoverable local message if its queue contains other messages."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        queue = position.QueueReference
        local = not isinstance(queue, OutgoingQueue) and queue.QueueType.name != "SYSTEM"
        if local and len(queue.MessagePositionList) > 1:
            return {name: value for name, value in change.items() if not name.startswith("message:")}
        return change


@fault("higher-priority-message-inserted-only-before-last", breaks="MQDMPR-3.1.7.1.9-14")
class HigherPriorityMessageInsertedOnlyBeforeLast(Positions):
    """The queue manager inserts a message of priority 7 before earlier messages of priority 7."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        positions = queue.MessagePositionList
        if message.Priority == 7:
            last, positions._last[7] = positions._last[7], None
            position = super().insert_message(queue, message)
            positions._last[7] = last or position
            return position
        return super().insert_message(queue, message)


add(
    "timer-of-time-to-be-received-not-started",
    "MQDMPR-3.1.7.1.9-15",
    "The queue manager does not start the timer of TimeToBeReceived when a message enters its queue.",
    skip(Lifetimes.watch_received),
)


@fault("queue-manager-local-message-time-to-be-received-not-started", breaks="MQDMPR-3.1.7.1.9-15", blind=True)
class QueueManagerLocalMessageTimeToBeReceivedNotStarted(Lifetimes):
    """The queue manager does not start the timer of TimeToBeReceived for a message of a local application."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            super().watch_received(position)


@fault("queue-manager-message-of-transaction-never-expires", breaks="MQDMPR-3.1.7.1.9-15", blind=True)
class QueueManagerMessageOfTransactionNeverExpires(Lifetimes):
    """The queue manager does not start the timer of TimeToBeReceived for a local transactional message."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


@fault("local-message-in-transaction-has-no-lifetime-timer", breaks="MQDMPR-3.1.7.1.9-15")
class LocalMessageInTransactionHasNoLifetimeTimer(Lifetimes):
    """The queue manager does not start the timer of TimeToBeReceived for a message that is sent in a transaction."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


@fault("local-send-in-transaction-visible-before-commit", breaks="MQDMPR-3.1.7.1.9-17")
class LocalSendInTransactionVisibleBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive a message that a transaction sends to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            self.qm.positions.message_available(position)
        return position


@fault("queue-manager-search-for-last-finds-message-of-open-transaction", breaks="MQDMPR-3.1.7.1.9-17")
class QueueManagerSearchForLastFindsMessageOfOpenTransaction(Seeking):
    """A read of the last message of a queue returns this message even if an open transaction has sent it."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        last = list(queue.MessagePositionList)[-1:]
        if lookup_action is MessageSeekAction.LAST and last and last[0].State is MessagePositionState.LOCKED:
            return Status.MQ_OK, last[0]
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-message-to-second-queue-of-transaction-not-locked", breaks="MQDMPR-3.1.7.1.9-17", blind=True)
class QueueManagerMessageToSecondQueueOfTransactionNotLocked(TransactionOperations):
    """A message that a transaction sends to its second queue is available before the commit."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        others = [
            one
            for one in transaction.TransactionalOperationCollection
            if one.MessagePositionReference.QueueReference is not queue
        ]
        position = super().enqueue_in_transaction(transaction, queue, message)
        if others and not isinstance(queue, OutgoingQueue):
            position.State = MessagePositionState.AVAILABLE
        return position


@fault("second-message-of-transaction-available-at-once", breaks="MQDMPR-3.1.7.1.9-17")
class SecondMessageOfTransactionAvailableAtOnce(TransactionOperations):
    """Before the commit, an application can receive the second message that a transaction sends to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if len(transaction.TransactionalOperationCollection) == 2 and position.counted_in is not None:
            position.State = MessagePositionState.AVAILABLE
        return position


@fault("local-send-not-listed-in-transaction", breaks=("MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21"))
class LocalSendNotListedInTransaction(TransactionOperations):
    """The queue manager adds no operation to a transaction for a message that the transaction sends locally."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            transaction.TransactionalOperationCollection.pop()
        return position


@fault("queue-manager-transaction-sends-to-last-queue-only", breaks="MQDMPR-3.1.7.1.9-21", blind=True)
class QueueManagerTransactionSendsToLastQueueOnly(TransactionOperations):
    """When a transaction sends a message to a second queue, the queue manager forgets the transaction's messages to the
    first queue.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        for one in list(transaction.TransactionalOperationCollection):
            if one.OperationType is OperationType.ENQUEUE and one.MessagePositionReference.QueueReference is not queue:
                transaction.TransactionalOperationCollection.remove(one)
        return super().enqueue_in_transaction(transaction, queue, message)


@fault("queue-manager-local-message-completes-no-read", breaks="MQDMPR-3.1.7.1.9-23", blind=True)
class QueueManagerLocalMessageCompletesNoRead(Waiting):
    """A message that an application of the same computer sends completes no waiting read."""

    def release_readers(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier or message.TransactionIdentifier is not None:
            super().release_readers(position)


@fault("local-send-returns-error", breaks="MQDMPR-3.1.7.1.9-26")
class LocalSendReturnsError(Enqueueing):
    """The queue manager returns an error for a message although it stored the message in a local queue."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        super().put_message(queue, message, None, result, now)
        if isinstance(queue, OutgoingQueue):
            return result
        raise CommandError("the quota of the queue is exceeded: receive messages first")


HIGHEST_U32 = 0xFFFF_FFFF


add(
    "queue-manager-label-of-traced-message-with-highest-application-tag-lost",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager stores a traced message without its label if its ApplicationTag is 0xFFFFFFFF.",
    change_insertion(
        lambda message: (
            replace(message, Label="") if message.TracingRequested and message.AppSpecific == HIGHEST_U32 else message
        )
    ),
)
