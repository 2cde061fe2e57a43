"""Faults that break the rules MQDMPR-3.1.7.1.9-12 to MQDMPR-3.1.7.1.9-17."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK, MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_7_1_09_enqueue_message.fault_steps import (
    change_lookup_identifiers,
    has_large_body,
    is_sent_by_local_application,
    is_transactional,
    set_high_byte_of_lookup_identifier,
)


@fault("message-inserted-at-end-of-queue", breaks="MQDMPR-3.1.7.1.9-14")
class MessageInsertedAtEndOfQueue(MessagePositions):
    """The queue manager inserts a message at the end of its queue, regardless of its priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("queue-manager-inserts-message-first-if-last-of-priority-locked", breaks="MQDMPR-3.1.7.1.9-14", blind=True)
class QueueManagerInsertsMessageFirstIfLastOfPriorityLocked(MessagePositions):
    """While a transaction has locked the last message of a priority, the queue manager inserts a new message of that
    priority before all messages of the priority.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last, priority = queue.MessagePositionList._last, message.Priority
        tail = last[priority]
        if tail is None or tail.State is not MessagePositionState.LOCKED or tail.is_disk_write_pending:
            return super().insert_message(queue, message)
        last[priority] = None
        position = super().insert_message(queue, message)
        last[priority] = tail
        return position


@fault("queue-manager-local-send-ignores-priority", breaks="MQDMPR-3.1.7.1.9-14", blind=True)
class QueueManagerLocalSendIgnoresPriority(MessageEnqueueing):
    """A local message that an application sends is inserted after the messages of lower priorities."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if not isinstance(queue, OutgoingQueue) and message.TransactionIdentifier is None:
            priorities = [one.MessageReference.Priority for one in queue.MessagePositionList]
            message = replace(message, Priority=min([message.Priority, *priorities]))
        return super().put_message(queue, message, token, result, now)


@fault("queue-manager-recoverable-local-message-lost-at-restart", breaks="MQDMPR-3.1.7.1.9-14", blind=True)
class QueueManagerRecoverableLocalMessageLostAtRestart(DurableRecords):
    """At a restart, the queue manager loses a recoverable local message if its queue contains other messages."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        queue = position.QueueReference
        local = not isinstance(queue, OutgoingQueue) and queue.QueueType.name != "SYSTEM"
        if local and len(queue.MessagePositionList) > 1:
            return {name: value for name, value in change.items() if not name.startswith("message:")}
        return change


@fault("message-of-priority-7-inserted-before-earlier-equal-priority", breaks="MQDMPR-3.1.7.1.9-14")
class MessageOfPriority7InsertedBeforeEarlierEqualPriority(MessagePositions):
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
    omit_step(MessageLifetimes.start_time_to_be_received_timer),
)


@fault("local-send-in-transaction-visible-before-commit", breaks="MQDMPR-3.1.7.1.9-17")
class LocalSendInTransactionVisibleBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive a message that a transaction sends to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if not isinstance(queue, OutgoingQueue):
            self.qm.message_positions.on_message_available(position)
        return position


@fault("queue-manager-search-for-last-finds-message-of-open-transaction", breaks="MQDMPR-3.1.7.1.9-17")
class QueueManagerSearchForLastFindsMessageOfOpenTransaction(MessageSearch):
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


@fault("second-message-sent-in-transaction-receivable-before-commit", breaks="MQDMPR-3.1.7.1.9-17")
class SecondMessageSentInTransactionReceivableBeforeCommit(TransactionOperations):
    """Before the commit, an application can receive the second message that a transaction sends to a local queue."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        position = super().enqueue_in_transaction(transaction, queue, message)
        if (
            len(transaction.TransactionalOperationCollection) == 2
            and position.position_list_that_counts_size is not None
        ):
            position.State = MessagePositionState.AVAILABLE
        return position


def _add_to_low_bytes_of_lookup_identifier(identifier: int, more: int) -> int:
    return identifier & ~LOOKUP_ID_WITHOUT_PRIORITY_MASK | identifier + more & LOOKUP_ID_WITHOUT_PRIORITY_MASK


add(
    "nontransactional-message-has-priority-as-high-byte",
    "MQDMPR-3.1.7.1.9-12",
    "The high byte of the LookupIdentifier of a nontransactional message is the priority.",
    change_lookup_identifiers(
        lambda part, message: not is_transactional(message),
        lambda message, old: set_high_byte_of_lookup_identifier(old, message.Priority),
    ),
    blind=True,
)


add(
    "express-message-has-high-byte-9",
    "MQDMPR-3.1.7.1.9-12",
    "The high byte of the LookupIdentifier of an express message is 9.",
    change_lookup_identifiers(
        lambda part, message: not is_transactional(message) and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS,
        lambda message, old: set_high_byte_of_lookup_identifier(old, 9),
    ),
    blind=True,
)


add(
    "message-of-priority-7-has-high-byte-7",
    "MQDMPR-3.1.7.1.9-12",
    "The high byte of the LookupIdentifier of a nontransactional message of priority 7 is 7.",
    change_lookup_identifiers(
        lambda part, message: not is_transactional(message) and message.Priority == 7,
        lambda message, old: set_high_byte_of_lookup_identifier(old, 7),
    ),
    blind=True,
)


add(
    "local-message-has-high-byte-8",
    "MQDMPR-3.1.7.1.9-12",
    "The high byte of the LookupIdentifier of a nontransactional message from an application of the same computer is "
    "8.",
    change_lookup_identifiers(
        lambda part, message: not is_transactional(message) and is_sent_by_local_application(part, message),
        lambda message, old: set_high_byte_of_lookup_identifier(old, 8),
    ),
    blind=True,
)


add(
    "low-bytes-of-local-message-are-256-more",
    "MQDMPR-3.1.7.1.9-13",
    "The low bytes of the LookupIdentifier of a message from an application of the same computer are 256 more than "
    "SequentialID.",
    change_lookup_identifiers(
        is_sent_by_local_application, lambda message, old: _add_to_low_bytes_of_lookup_identifier(old, 256)
    ),
    blind=True,
)


add(
    "low-bytes-of-transactional-message-are-256-more",
    "MQDMPR-3.1.7.1.9-13",
    "The low bytes of the LookupIdentifier of a transactional message are 256 more than SequentialID.",
    change_lookup_identifiers(
        lambda part, message: is_transactional(message),
        lambda message, old: _add_to_low_bytes_of_lookup_identifier(old, 256),
    ),
    blind=True,
)


add(
    "low-bytes-of-large-message-are-256-more",
    "MQDMPR-3.1.7.1.9-13",
    "The low bytes of the LookupIdentifier of a message with a large body are 256 more than SequentialID.",
    change_lookup_identifiers(
        lambda part, message: has_large_body(message),
        lambda message, old: _add_to_low_bytes_of_lookup_identifier(old, 256),
    ),
    blind=True,
)


add(
    "low-bytes-of-express-message-are-256-more",
    "MQDMPR-3.1.7.1.9-13",
    "The low bytes of the LookupIdentifier of an express message are 256 more than SequentialID.",
    change_lookup_identifiers(
        lambda part, message: message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS,
        lambda message, old: _add_to_low_bytes_of_lookup_identifier(old, 256),
    ),
    blind=True,
)
