"""Faults that break the rules MQDMPR-3.1.7.1.10-09 to MQDMPR-3.1.7.1.10-35 in only one of several situations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.position_list import Boundary
from reference_qm.model.statuses import CursorStatus, Status


def make_descriptor_of_other_queue(descriptor: OpenQueueDescriptor, queue: Queue | None) -> OpenQueueDescriptor:
    """Return a descriptor of another queue, which has the pending reads of the given descriptor."""
    return descriptor if queue is None else replace(descriptor, QueueReference=queue)


def get_owning_queue(queue: Queue | None, journal: bool) -> Queue | None:
    """Return the queue that owns a journal, or the queue that owns a subqueue."""
    owner = None if queue is None else queue.parent
    return owner if owner is not None and (owner.JournalQueueReference is queue) is journal else None


def make_replacer_of_descriptor_by_owning_queue(journal: bool) -> Callable[[GivenStepArguments], OpenQueueDescriptor]:
    """Return a function that replaces the descriptor of a journal or of a subqueue."""
    return lambda given: make_descriptor_of_other_queue(
        given.queue_desc, get_owning_queue(given.queue_desc.QueueReference, journal)
    )


add(
    "queue-manager-receive-from-subqueue-takes-message-of-owner",
    "MQDMPR-3.1.7.1.10-09",
    "A receive from a subqueue returns a message of the queue that owns the subqueue.",
    change_step_arguments(
        MessageReading.dequeue_message, queue_desc=make_replacer_of_descriptor_by_owning_queue(journal=False)
    ),
    blind=True,
)


add(
    "queue-manager-receive-from-journal-takes-message-of-owner",
    "MQDMPR-3.1.7.1.10-09",
    "A receive from the journal of a queue returns a message of the queue.",
    change_step_arguments(
        MessageReading.dequeue_message, queue_desc=make_replacer_of_descriptor_by_owning_queue(journal=True)
    ),
    blind=True,
)


def get_descriptor_of_latest_open_queue(given: GivenStepArguments) -> OpenQueueDescriptor:
    """Return the descriptor that was opened last."""
    latest = next(reversed(given.qm.descriptors.values()))
    return (
        make_descriptor_of_other_queue(given.queue_desc, latest.QueueReference)
        if given.queue_desc.QueueReference
        else given.queue_desc
    )


add(
    "queue-manager-receive-uses-latest-open-queue",
    "MQDMPR-3.1.7.1.10-09",
    "A receive returns a message of the queue that was opened last.",
    change_step_arguments(MessageReading.dequeue_message, queue_desc=get_descriptor_of_latest_open_queue),
    blind=True,
)


def get_first_cursor_of_descriptor(given: GivenStepArguments) -> Cursor | None:
    """Return the first cursor of the descriptor for a read by a cursor."""
    return None if given.cursor is None else next(iter(given.queue_desc.CursorCollection.values()))


add(
    "queue-manager-receive-by-second-cursor-uses-first-cursor",
    ("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.1.11-10"),
    "A receive by the second cursor of an open queue obtains the message from the first cursor.",
    change_step_arguments(MessageReading.dequeue_message, cursor=get_first_cursor_of_descriptor),
    blind=True,
)


@fault("queue-manager-receive-by-moved-cursor-with-timeout-zero-waits", breaks="MQDMPR-3.1.7.1.10-12", blind=True)
class QueueManagerReceiveByMovedCursorWithTimeoutZeroWaits(MessageReading):
    """A receive with timeout zero by a cursor that has received a message waits for 200 ms."""

    @faulty_only_if(lambda self, *given, **named: _is_cursor_at_message(_find_cursor(given, named)))
    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: OnReadAnswered, *rest: Any, **named: Any
    ) -> None:
        arguments = list(rest)
        if len(arguments) > 1 and arguments[1] == 0:
            arguments[1] = 200
        super().dequeue_message(queue_desc, answered, *arguments, **named)


def _find_cursor(given: tuple[Any, ...], named: dict[str, Any]) -> Cursor | None:
    return named.get("cursor") or (given[4] if len(given) > 4 else None)


def _is_cursor_at_message(cursor: Cursor | None) -> bool:
    return cursor is not None and not isinstance(cursor.MessagePositionReference, Boundary)


add(
    "queue-manager-receive-by-cursor-in-transaction-takes-first-message",
    "MQDMPR-3.1.7.1.10-12",
    "A receive by a cursor in a transaction returns the first message of the queue.",
    change_step_arguments(
        MessageReading.dequeue_message, cursor=lambda given: None if given.transaction is not None else given.cursor
    ),
    blind=True,
)


@fault("queue-manager-cursor-receive-returns-message-before-peeked-message", breaks="MQDMPR-3.1.7.1.10-15", blind=True)
class QueueManagerCursorReceiveReturnsMessageBeforePeekedMessage(QueueCursors):
    """A receive by a cursor that has peeked at the next message returns the message before the peeked message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if position is not None and self.qm.message_search.is_message_readable(position, False):
            before = position.Previous
            if isinstance(before, MessagePosition) and self.qm.message_search.is_message_readable(before, False):
                return status, before
        return status, position


@fault("queue-manager-second-receive-by-cursor-begins-at-start", breaks="MQDMPR-3.1.7.1.10-15", blind=True)
class QueueManagerSecondReceiveByCursorBeginsAtStart(QueueCursors):
    """A receive by a cursor that has just received a message returns the first message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        at = cursor.MessagePositionReference
        if (
            queue is not None
            and isinstance(at, MessagePosition)
            and not self.qm.message_search.is_message_readable(at, False)
        ):
            first = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
            if first is not None and first is not at:
                return CursorStatus.SUCCEEDED, first
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-receive-by-cursor-returns-first-of-equal-priority", breaks="MQDMPR-3.1.7.1.10-15", blind=True)
class QueueManagerReceiveByCursorReturnsFirstOfEqualPriority(QueueCursors):
    """A receive by a cursor returns the first available message that has the priority of the cursor's message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        if position is None:
            return status, None
        wanted = position.MessageReference.Priority
        for one in position.QueueReference.MessagePositionList:
            if one.MessageReference.Priority == wanted and self.qm.message_search.is_message_readable(one, False):
                return status, one
        return status, position


@fault("queue-manager-receive-by-moved-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.10-22", blind=True)
class QueueManagerReceiveByMovedCursorDoesNotWait(QueueCursors):
    """A receive by a cursor behind the last message of the queue does not wait."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        return super().get_next_message_for_dequeue(cursor, no_wait or _is_cursor_at_message(cursor))


add(
    "queue-manager-second-receive-by-cursor-does-not-wait",
    "MQDMPR-3.1.7.1.10-22",
    "While a receive by a cursor waits, a receive by a second cursor of the open queue does not wait.",
    change_step_arguments(
        QueueCursors.get_next_message_for_dequeue,
        no_wait=lambda given: (
            given.no_wait
            or any(
                reader.CursorReference is not None
                for reader in given.cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection
            )
        ),
    ),
    blind=True,
)


add(
    "queue-manager-receive-by-cursor-waits-only-in-empty-queue",
    "MQDMPR-3.1.7.1.10-22",
    "A receive by a cursor does not wait if the queue has messages before the cursor.",
    change_step_arguments(
        QueueCursors.get_next_message_for_dequeue,
        no_wait=lambda given: (
            given.no_wait or len(given.cursor.OpenQueueDescriptorReference.QueueReference.MessagePositionList) > 0
        ),
    ),
    blind=True,
)


def make_result_changer_of_cursor_receive(
    change: Callable[[GivenStepArguments, Status, MessagePosition | None], Any],
) -> Callable[[GivenStepArguments], Any]:
    """Return a function that replaces the completion of a pending receive by a cursor."""

    def make_changed_completion_callback(given: GivenStepArguments) -> OnReadAnswered:
        if given.cursor is None or not given.destructive_read:
            return given.answered
        return lambda status, position: given.answered(*change(given, status, position))

    return make_changed_completion_callback


def _return_first_message_of_queue(given: GivenStepArguments, status: Status, position: MessagePosition | None) -> Any:
    if position is None:
        return status, None
    return status, given.qm.message_search.seek_available(position.QueueReference.MessagePositionList.Start, False)


add(
    "queue-manager-pending-receive-by-cursor-returns-first-message",
    "MQDMPR-3.1.7.1.10-30",
    "When a message arrives, a pending receive by a cursor returns the first message of the queue.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=make_result_changer_of_cursor_receive(_return_first_message_of_queue),
    ),
    blind=True,
)


def _replace_transactional_message_by_timeout(
    given: GivenStepArguments, status: Status, position: MessagePosition | None
) -> Any:
    if position is not None and position.MessageReference.TransactionIdentifier is not None:
        return Status.MQ_ERROR_IO_TIMEOUT, None
    return status, position


add(
    "queue-manager-pending-receive-by-cursor-fails-for-transactional-message",
    "MQDMPR-3.1.7.1.10-30",
    "A pending receive by a cursor ends without a message when a transactional message arrives.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=make_result_changer_of_cursor_receive(_replace_transactional_message_by_timeout),
    ),
    blind=True,
)


@fault("queue-manager-second-pending-receive-by-cursor-misses-message", breaks="MQDMPR-3.1.7.1.10-30", blind=True)
class QueueManagerSecondPendingReceiveByCursorMissesMessage(WaitingReads):
    """The queue manager passes arriving messages only to the first pending receive by a cursor of an open queue."""

    def wait_for_new_message(self, queue_desc: OpenQueueDescriptor, *given: Any, **named: Any) -> None:
        earlier = [
            one
            for one in queue_desc.WaitingMessageReadOperationCollection
            if one.CursorReference is not None and one.DestructiveRead
        ]
        super().wait_for_new_message(queue_desc, *given, **named)
        for reader in list(queue_desc.WaitingMessageReadOperationCollection):
            if earlier and reader.CursorReference is not None and reader not in earlier:
                del self.qm.readers[reader.number]


def make_status_changer_of_cursor_receive(old: Status, new: Status) -> Callable[[GivenStepArguments], Any]:
    """Return a function that replaces the status of a pending receive by a cursor."""
    return make_result_changer_of_cursor_receive(
        lambda given, status, position: (new if status is old else status, position)
    )


add(
    "queue-manager-expired-receive-by-cursor-returns-not-found",
    "MQDMPR-3.1.7.1.10-35",
    "A pending receive by a cursor whose timeout expires returns MQ_ERROR_MESSAGE_NOT_FOUND.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=make_status_changer_of_cursor_receive(Status.MQ_ERROR_IO_TIMEOUT, Status.MQ_ERROR_MESSAGE_NOT_FOUND),
    ),
    blind=True,
)


add(
    "queue-manager-cancelled-receive-by-cursor-returns-timeout",
    "MQDMPR-3.1.7.1.10-35",
    "A cancelled receive by a cursor returns MQ_ERROR_IO_TIMEOUT.",
    change_step_arguments(
        WaitingReads.wait_for_new_message,
        answered=make_result_changer_of_cursor_receive(
            lambda given, status, position: (
                (status, position)
                if status in (Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT, Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)
                else (Status.MQ_ERROR_IO_TIMEOUT, position)
            )
        ),
    ),
    blind=True,
)
