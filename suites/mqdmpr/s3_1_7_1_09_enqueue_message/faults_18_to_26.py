"""Faults that break the rules MQDMPR-3.1.7.1.9-18 to MQDMPR-3.1.7.1.9-26."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_7_1_09_enqueue_message.fault_steps import (
    LARGE_BODY_BYTES,
    has_large_body,
    is_transactional,
)


@fault("locally-sent-message-not-listed-in-transaction", breaks=("MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21"))
class LocallySentMessageNotListedInTransaction(TransactionOperations):
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
class QueueManagerLocalMessageCompletesNoRead(WaitingReads):
    """A message that an application of the same computer sends completes no waiting read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier or message.TransactionIdentifier is not None:
            super().pass_new_message_to_waiting_readers(position)


@fault("local-send-returns-error-although-message-stored", breaks="MQDMPR-3.1.7.1.9-26")
class LocalSendReturnsErrorAlthoughMessageStored(MessageEnqueueing):
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
    change_inserted_message(
        lambda message: (
            replace(message, Label="") if message.TracingRequested and message.AppSpecific == HIGHEST_U32 else message
        )
    ),
)


def _list_sent_messages_of_transaction(transaction: Transaction) -> list[MessagePosition]:
    """Return the messages that are sent in a transaction."""
    return [
        one.MessagePositionReference
        for one in transaction.TransactionalOperationCollection
        if one.OperationType is OperationType.ENQUEUE
    ]


def _send_outside_of_transaction(when: Callable[[Transaction, Queue, Message], bool]) -> Install:
    """Return an installer of a fault that creates no operation for some messages of transactions: each of these
    messages can be received at once.
    """

    def enqueue_without_operation(
        part: TransactionOperations,
        original: Callable[[Transaction, Queue, Message], MessagePosition],
        transaction: Transaction,
        queue: Queue,
        message: Message,
    ) -> MessagePosition:
        at_once = not isinstance(queue, OutgoingQueue) and when(transaction, queue, message)
        position = original(transaction, queue, message)
        if at_once:
            transaction.TransactionalOperationCollection.pop()
            part.qm.message_positions.on_message_available(position)
        return position

    return change_step(TransactionOperations.enqueue_in_transaction, enqueue_without_operation)


def _add_operation_to_other_transaction(
    when: Callable[[Transaction, Queue, Message], bool], choose: Callable[[list[Transaction]], Transaction]
) -> Install:
    """Return an installer of a fault that adds some operations to a different open transaction."""

    def enqueue_in_other_transaction(
        part: TransactionOperations,
        original: Callable[[Transaction, Queue, Message], MessagePosition],
        transaction: Transaction,
        queue: Queue,
        message: Message,
    ) -> MessagePosition:
        moves = when(transaction, queue, message)
        position = original(transaction, queue, message)
        if moves:
            operation = transaction.TransactionalOperationCollection.pop()
            choose(list(part.qm.adm.TransactionCollection.values())).TransactionalOperationCollection.append(operation)
        return position

    return change_step(TransactionOperations.enqueue_in_transaction, enqueue_in_other_transaction)


def _has_transaction_sent_to_other_queue(transaction: Transaction, queue: Queue, message: Message) -> bool:
    """Return whether a transaction has sent a message to a queue other than the given queue."""
    return any(one.QueueReference is not queue for one in _list_sent_messages_of_transaction(transaction))


def _keep_enqueued_messages_locked(when: Callable[[MessagePositions, MessagePosition], bool]) -> Install:
    """Return an installer of a fault that does not make some messages available."""

    def release_other_messages(
        part: MessagePositions, original: Callable[[MessagePosition], None], position: MessagePosition
    ) -> None:
        if is_transactional(position.MessageReference) or not when(part, position):
            original(position)

    return change_step(MessagePositions.on_message_available, release_other_messages)


def _is_message_sent_by_open_transaction(part: MessagePositions, position: MessagePosition) -> bool:
    """Return whether an open transaction has sent a message."""
    return any(_list_sent_messages_of_transaction(one) for one in part.qm.adm.TransactionCollection.values())


def _withhold_available_message_from_pending_reads(when: Callable[[MessagePosition], bool]) -> Install:
    """Return an installer of a fault that passes some available messages to no pending read."""

    def release_readers_of_other_messages(
        part: WaitingReads, original: Callable[[MessagePosition], None], position: MessagePosition
    ) -> None:
        if is_transactional(position.MessageReference) or not when(position):
            original(position)

    return change_step(WaitingReads.pass_new_message_to_waiting_readers, release_readers_of_other_messages)


def _report_failure_of_sent_message(when: Callable[[HigherLayerCommands, Any], bool]) -> Install:
    """Return an installer of a fault that reports a failure for some requests to send a message, although the message
    is in its queue.
    """

    def send_and_report_failure(
        part: HigherLayerCommands, original: Callable[..., Any], request: Any, *rest: Any
    ) -> Any:
        fails = when(part, request)
        result = original(request, *rest)
        if fails:
            raise CommandError("the queue accepts no message")
        return result

    return change_step(HigherLayerCommands.send_message, send_and_report_failure)


add(
    "third-message-of-transaction-sent-at-once",
    "MQDMPR-3.1.7.1.9-18",
    "The queue manager creates no operation for the third message that is sent in a transaction.",
    _send_outside_of_transaction(
        lambda transaction, queue, message: len(_list_sent_messages_of_transaction(transaction)) == 2
    ),
    blind=True,
)


add(
    "message-of-transaction-to-second-queue-sent-at-once",
    "MQDMPR-3.1.7.1.9-18",
    "The queue manager creates no operation for a message that is sent in a transaction to a second queue.",
    _send_outside_of_transaction(_has_transaction_sent_to_other_queue),
    blind=True,
)


add(
    "large-message-of-transaction-sent-at-once",
    "MQDMPR-3.1.7.1.9-18",
    "The queue manager creates no operation for a message with a large body that is sent in a transaction.",
    _send_outside_of_transaction(lambda transaction, queue, message: has_large_body(message)),
    blind=True,
)


add(
    "message-sent-after-receive-of-transaction-sent-at-once",
    "MQDMPR-3.1.7.1.9-18",
    "The queue manager creates no operation for a message that is sent in a transaction which has received a message.",
    _send_outside_of_transaction(
        lambda transaction, queue, message: any(
            one.OperationType is OperationType.DEQUEUE for one in transaction.TransactionalOperationCollection
        )
    ),
    blind=True,
)


add(
    "message-to-second-queue-added-to-oldest-transaction",
    "MQDMPR-3.1.7.1.9-21",
    "The operation for a message that is sent in a transaction to a second queue is added to the oldest open "
    "transaction.",
    _add_operation_to_other_transaction(_has_transaction_sent_to_other_queue, lambda open_ones: open_ones[0]),
    blind=True,
)


add(
    "large-message-added-to-oldest-transaction",
    "MQDMPR-3.1.7.1.9-21",
    "The operation for a message with a large body is added to the oldest open transaction.",
    _add_operation_to_other_transaction(
        lambda transaction, queue, message: has_large_body(message), lambda open_ones: open_ones[0]
    ),
    blind=True,
)


add(
    "second-message-added-to-newest-transaction",
    "MQDMPR-3.1.7.1.9-21",
    "The operation for the second message that is sent in a transaction is added to the newest open transaction.",
    _add_operation_to_other_transaction(
        lambda transaction, queue, message: len(_list_sent_messages_of_transaction(transaction)) == 1,
        lambda open_ones: open_ones[-1],
    ),
    blind=True,
)


add(
    "message-to-other-computer-added-to-newest-transaction",
    "MQDMPR-3.1.7.1.9-21",
    "The operation for a message to another computer is added to the newest open transaction.",
    _add_operation_to_other_transaction(
        lambda transaction, queue, message: isinstance(queue, OutgoingQueue), lambda open_ones: open_ones[-1]
    ),
    blind=True,
)


add(
    "message-outside-transaction-locked-while-transaction-open",
    "MQDMPR-3.1.7.1.9-23",
    "A message that is enqueued outside a transaction while an open transaction has sent a message cannot be received.",
    _keep_enqueued_messages_locked(_is_message_sent_by_open_transaction),
    blind=True,
)


add(
    "large-message-outside-transaction-locked",
    "MQDMPR-3.1.7.1.9-23",
    "A message with a large body that is enqueued outside a transaction cannot be received.",
    _keep_enqueued_messages_locked(lambda part, position: has_large_body(position.MessageReference)),
    blind=True,
)


add(
    "message-of-low-priority-completes-no-read",
    "MQDMPR-3.1.7.1.9-23",
    "A message that is enqueued outside a transaction behind another message of the queue completes no pending read.",
    _withhold_available_message_from_pending_reads(
        lambda position: len(position.QueueReference.MessagePositionList) > 1
    ),
    blind=True,
)


add(
    "large-message-completes-no-read",
    "MQDMPR-3.1.7.1.9-23",
    "A message with a large body that is enqueued outside a transaction completes no pending read.",
    _withhold_available_message_from_pending_reads(lambda position: has_large_body(position.MessageReference)),
    blind=True,
)


add(
    "send-of-large-local-message-fails-after-enqueueing",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager reports a failure for a message with a large body, although the message is in its queue.",
    _report_failure_of_sent_message(lambda part, request: len(request.body) >= LARGE_BODY_BYTES),
    blind=True,
)


add(
    "send-of-message-of-priority-7-fails-after-enqueueing",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager reports a failure for a message of priority 7, although the message is in its queue.",
    _report_failure_of_sent_message(lambda part, request: request.priority == 7),
    blind=True,
)


add(
    "second-send-in-transaction-fails-after-enqueueing",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager reports a failure for the second message in a transaction, although the message has its "
    "operation.",
    _report_failure_of_sent_message(
        lambda part, request: (
            request.transaction is not None
            and len(
                _list_sent_messages_of_transaction(part.qm.transaction_events.find_transaction(request.transaction))
            )
            == 1
        )
    ),
    blind=True,
)


add(
    "send-with-pending-read-fails-after-enqueueing",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager reports a failure for a message that completes a pending read.",
    _report_failure_of_sent_message(lambda part, request: bool(part.qm.readers)),
    blind=True,
)


add(
    "send-of-message-without-body-fails-after-enqueueing",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager reports a failure for a message without a body, although the message is in its queue.",
    _report_failure_of_sent_message(lambda part, request: not request.body),
)


add(
    "fourth-message-of-transaction-sent-at-once",
    "MQDMPR-3.1.7.1.9-18",
    "The queue manager creates no operation for the fourth message that is sent in a transaction.",
    _send_outside_of_transaction(
        lambda transaction, queue, message: len(_list_sent_messages_of_transaction(transaction)) == 3
    ),
)


add(
    "message-without-body-added-to-oldest-transaction",
    "MQDMPR-3.1.7.1.9-21",
    "The operation for a message without a body is added to the oldest open transaction.",
    _add_operation_to_other_transaction(
        lambda transaction, queue, message: not message.Body, lambda open_ones: open_ones[0]
    ),
)
