"""Faults that break the rules MQDMPR-3.1.7.1.9-04 to MQDMPR-3.1.7.1.9-11."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import change_step, fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions, build_lookup_identifier
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_09_enqueue_message.fault_steps import (
    LARGE_BODY_BYTES,
    change_lookup_identifiers,
    has_large_body,
    is_sent_by_local_application,
    is_transactional,
    set_high_byte_of_lookup_identifier,
)


@fault("queue-manager-accepts-local-messages-while-throttled", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerAcceptsLocalMessagesWhileThrottled(MessageEnqueueing):
    """A throttled queue manager refuses messages from other computers, but stores messages of its own applications."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            return super().admit_message(queue, message, now)
        finally:
            self.qm.adm.Throttled = throttled


@fault("queue-manager-quota-compared-with-size-of-one-queue-only", breaks="MQDMPR-3.1.7.1.9-04")
class QueueManagerQuotaComparedWithSizeOfOneQueueOnly(QueueQuotas):
    """The queue manager compares QueueManagerQuota with the total size of the messages of only one queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        storage = queue.MessagePositionList.storage
        used, storage.used_bytes = storage.used_bytes, queue.MessagePositionList.TotalBytes
        status = super().check_room_for_message(queue, message)
        storage.used_bytes = used
        return status


@fault("queue-manager-throttled-send-in-transaction-accepted", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerThrottledSendInTransactionAccepted(MessageEnqueueing):
    """While the queue manager is throttled, a local message to a transactional queue is accepted."""

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        throttled = self.qm.adm.Throttled
        self.qm.adm.Throttled = throttled and not queue.Transactional
        status = super().admit_message(queue, message, now)
        self.qm.adm.Throttled = throttled
        return status


@fault("queue-manager-quota-exceeded-by-one-message", breaks="MQDMPR-3.1.7.1.9-04", blind=True)
class QueueManagerQuotaExceededByOneMessage(QueueQuotas):
    """The queue manager compares QueueManagerQuota with the size of the stored messages, without the size of the new
    message.
    """

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        storage = queue.MessagePositionList.storage
        used = storage.used_bytes
        if storage is not self.qm.adm.journal_storage:
            storage.used_bytes = max(0, used - len(message.Body) - 200)
        status = super().check_room_for_message(queue, message)
        storage.used_bytes = used
        return status


@fault("quota-of-queue-manager-ignores-transactional-messages", breaks="MQDMPR-3.1.7.1.9-04")
class QuotaOfQueueManagerIgnoresTransactionalMessages(QueueQuotas):
    """The queue manager accepts transactional messages beyond QueueManagerQuota."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        exceeded = status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and queue.Transactional
        return EnqueueStatus.NO_ERROR if exceeded else status


def _clear_sizes_of_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.MessagePositionList.TotalBytes = 0


add(
    "queue-manager-messages-before-restart-do-not-count-for-quota",
    "MQDMPR-3.1.7.1.9-07",
    "After a restart, the queue manager does not count the messages that a queue already contains towards its Quota.",
    change_core_at_restart(_clear_sizes_of_queues),
)


@fault("queue-manager-quota-of-queue-ignores-locked-messages", breaks="MQDMPR-3.1.7.1.9-07", blind=True)
class QueueManagerQuotaOfQueueIgnoresLockedMessages(QueueQuotas):
    """The queue manager does not count the messages that open transactions have sent or received towards the Quota of
    their queue.
    """

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        positions = queue.MessagePositionList
        locked = sum(one.size for one in positions if one.State is MessagePositionState.LOCKED)
        positions.TotalBytes -= locked
        status = super().check_room_for_message(queue, message)
        positions.TotalBytes += locked
        return status


@fault("queue-manager-quota-of-queue-ignores-messages-without-body", breaks="MQDMPR-3.1.7.1.9-07", blind=True)
class QueueManagerQuotaOfQueueIgnoresMessagesWithoutBody(QueueQuotas):
    """A message without a body never exceeds the Quota of its queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and len(message.Body) < 16:
            return EnqueueStatus.NO_ERROR
        return status


@fault("queue-below-quota-accepts-message-that-exceeds-quota", breaks="MQDMPR-3.1.7.1.9-07")
class QueueBelowQuotaAcceptsMessageThatExceedsQuota(QueueQuotas):
    """A queue whose messages do not reach its Quota accepts a message that exceeds the Quota."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        has_room = 0 < queue.TotalBytes < queue.Quota * 1024
        return EnqueueStatus.NO_ERROR if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and has_room else status


@fault("message-position-refers-to-previous-message", breaks="MQDMPR-3.1.7.1.9-09")
class MessagePositionRefersToPreviousMessage(MessagePositions):
    """The MessagePosition of a new message refers to the previously enqueued message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: Message | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before, self._before = self._before, message
        return super().insert_message(queue, before or message)


@fault("queue-manager-second-message-of-transaction-has-body-of-first", breaks="MQDMPR-3.1.7.1.9-09", blind=True)
class QueueManagerSecondMessageOfTransactionHasBodyOfFirst(TransactionOperations):
    """The second local message of a transaction has the body of the first message."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        for one in transaction.TransactionalOperationCollection:
            if one.OperationType is OperationType.ENQUEUE:
                message = replace(message, Body=one.MessagePositionReference.MessageReference.Body)
                break
        return super().enqueue_in_transaction(transaction, queue, message)


@fault("sequential-id-not-incremented", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class SequentialIdNotIncremented(MessagePositions):
    """The queue manager does not increment SequentialID, so all messages have the same value."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return build_lookup_identifier(message, self.qm.adm.SequentialID)


LOW_SEVEN_BYTES_MASK = (1 << 56) - 1


@fault("lookup-identifier-low-bytes-decrease-with-each-message", breaks=("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.7.1.9-13"))
class LookupIdentifierLowBytesDecreaseWithEachMessage(MessagePositions):
    """The low bytes of the LookupIdentifiers decrease from each message to the next."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return super().assign_lookup_identifier(message) ^ LOW_SEVEN_BYTES_MASK


@fault("queue-manager-sequential-id-not-incremented-for-transactional-message", breaks="MQDMPR-3.1.7.1.9-10")
class QueueManagerSequentialIdNotIncrementedForTransactionalMessage(MessagePositions):
    """The queue manager does not increment its SequentialID for a transactional message."""

    def assign_lookup_identifier(self, message: Message) -> int:
        before = self.qm.adm.SequentialID
        identifier = super().assign_lookup_identifier(message)
        if message.TransactionIdentifier is not None:
            self.qm.adm.SequentialID = before
        return identifier


@fault("lookup-identifier-high-byte-8-minus-priority", breaks=("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12"))
class LookupIdentifierHighByte8MinusPriority(MessagePositions):
    """The high byte of a LookupIdentifier is 8 minus the priority."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return (8 - message.Priority) << 56 | super().assign_lookup_identifier(message) & LOW_SEVEN_BYTES_MASK


def _change_inserted_messages(
    change: Callable[[Message, list[Message]], Message], when: Callable[[MessagePositions, Message], bool]
) -> Install:
    """Return an installer of a fault that replaces some messages when they enter a queue. ``change`` computes the new
    message from the original message and the messages of the queue.
    """

    def insert_changed_message(
        part: MessagePositions, original: Callable[[Queue, Message], MessagePosition], queue: Queue, message: Message
    ) -> MessagePosition:
        others = [one.MessageReference for one in queue.MessagePositionList]
        return original(queue, change(message, others) if when(part, message) else message)

    return change_step(MessagePositions.insert_message, insert_changed_message)


def _copy_body_of_first_matching_message(
    message: Message, others: list[Message], same: Callable[[Message], bool]
) -> Message:
    """Return a message with the body of the first message of the queue for which a condition is true."""
    body = next((one.Body for one in others if same(one)), message.Body)
    return replace(message, Body=body)


add(
    "local-transactional-message-has-high-byte-1",
    "MQDMPR-3.1.7.1.9-11",
    "The high byte of the LookupIdentifier of a transactional message from an application of the same computer is 1.",
    change_lookup_identifiers(
        lambda part, message: is_transactional(message) and is_sent_by_local_application(part, message),
        lambda message, old: set_high_byte_of_lookup_identifier(old, 1),
    ),
    blind=True,
)


add(
    "large-transactional-message-has-high-byte-6",
    "MQDMPR-3.1.7.1.9-11",
    "The high byte of the LookupIdentifier of a transactional message with a large body is 6.",
    change_lookup_identifiers(
        lambda part, message: is_transactional(message) and has_large_body(message),
        lambda message, old: set_high_byte_of_lookup_identifier(old, 6),
    ),
    blind=True,
)


add(
    "every-second-transactional-message-has-high-byte-5",
    "MQDMPR-3.1.7.1.9-11",
    "The high byte of the LookupIdentifier of every second transactional message is 5.",
    change_lookup_identifiers(
        lambda part, message: is_transactional(message) and part.qm.adm.SequentialID % 2 == 0,
        lambda message, old: set_high_byte_of_lookup_identifier(old, 5),
    ),
    blind=True,
)


add(
    "message-with-same-label-has-body-of-first",
    "MQDMPR-3.1.7.1.9-09",
    "A message with the label of a message of the queue is inserted with the body of that message.",
    _change_inserted_messages(
        lambda message, others: _copy_body_of_first_matching_message(
            message, others, lambda one: one.Label == message.Label
        ),
        lambda part, message: True,
    ),
    blind=True,
)


add(
    "local-message-of-same-size-has-body-of-first",
    "MQDMPR-3.1.7.1.9-09",
    "A message of an application of the same computer is inserted with the body of the first message of the queue "
    "that has a body of the same size.",
    _change_inserted_messages(
        lambda message, others: _copy_body_of_first_matching_message(
            message, others, lambda one: len(one.Body) == len(message.Body)
        ),
        is_sent_by_local_application,
    ),
    blind=True,
)


add(
    "large-message-inserted-without-its-end",
    "MQDMPR-3.1.7.1.9-09",
    "A message with a large body is inserted with only the beginning of the body.",
    _change_inserted_messages(
        lambda message, others: replace(message, Body=message.Body[: LARGE_BODY_BYTES - 1]),
        lambda part, message: has_large_body(message),
    ),
    blind=True,
)


add(
    "message-of-higher-priority-has-label-of-first",
    "MQDMPR-3.1.7.1.9-09",
    "A message with a higher priority than the first message of the queue is inserted with the label of that message.",
    _change_inserted_messages(
        lambda message, others: (
            replace(message, Label=others[0].Label) if others and others[0].Priority < message.Priority else message
        ),
        lambda part, message: True,
    ),
    blind=True,
)


add(
    "message-without-body-inserted-with-body-of-last",
    "MQDMPR-3.1.7.1.9-09",
    "A message without a body is inserted with the body of the last message of the queue.",
    _change_inserted_messages(
        lambda message, others: replace(message, Body=others[-1].Body) if others and not message.Body else message,
        lambda part, message: True,
    ),
)
