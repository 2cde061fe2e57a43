"""Faults that break the rules MQDMPR-3.1.7.1.9-23 to MQDMPR-3.1.7.1.15-13."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import GivenStepArguments, change_step_arguments, replace_step_if, replace_step_status
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_15_peek_message.fault_steps import (
    change_peek_results,
    get_neighbor_message,
    has_large_body,
    is_express_message,
    is_peek_with_cursor,
    is_transactional,
    make_change_of_message_to_status,
    make_change_of_peeked_message,
)


@fault("queue-manager-peek-by-cursor-of-deleted-queue-times-out", breaks="MQDMPR-3.1.7.1.15-04", blind=True)
class QueueManagerPeekByCursorOfDeletedQueueTimesOut(MessageReading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_IO_TIMEOUT, None)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("peek-by-cursor-of-deleted-queue-returns-already-received", breaks="MQDMPR-3.1.7.1.15-04")
class PeekByCursorOfDeletedQueueReturnsAlreadyReceived(MessageReading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
        else:
            super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


def _get_first_open_queue(given: GivenStepArguments) -> OpenQueueDescriptor:
    return next(iter(given.qm.descriptors.values()))


add(
    "peek-reads-first-opened-queue",
    "MQDMPR-3.1.7.1.15-06",
    "A peek without a cursor reads the queue that was opened first.",
    change_step_arguments(
        MessageReading.peek_message,
        queue_desc=lambda given: given.queue_desc if given.cursor is not None else _get_first_open_queue(given),
    ),
)


def _set_timeout_of_reads_without_timeout(instead_ms: int) -> Install:
    """Build a fault in which the queue manager uses a given timeout for each read without a timeout."""
    return change_step_arguments(
        WaitingReads.wait_for_new_message,
        timeout_ms=lambda given: instead_ms if given.timeout_ms is None else given.timeout_ms,
    )


add(
    "read-without-timeout-does-not-wait",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout does not wait.",
    _set_timeout_of_reads_without_timeout(0),
)


add(
    "read-without-timeout-waits-one-day",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout waits for one day.",
    _set_timeout_of_reads_without_timeout(86_400_000),
)


@fault("pending-peek-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.15-07")
class PendingPeekWithoutTimeoutWaitsOneMinute(MessageReading):
    """A peek by a cursor without a timeout ends after one minute."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        limited = 60_000 if timeout_ms is None and cursor is not None else timeout_ms
        super().peek_message(queue_desc, answered, now, limited, cursor, tag)


def _get_last_entry_of_queue(given: GivenStepArguments) -> Entry | None:
    """Return the last entry of the queue, or None if the queue was deleted."""
    queue = given.queue_desc.QueueReference
    return None if queue is None else queue.MessagePositionList.Tail


add(
    "peek-by-cursor-returns-last-message",
    ("MQDMPR-3.1.7.1.15-10", "MQDMPR-3.1.7.1.15-12"),
    "A peek by a cursor returns the last message that the cursor could reach.",
    replace_step_if(
        MessageReading.peek_message,
        lambda given: given.cursor is not None and isinstance(_get_last_entry_of_queue(given), MessagePosition),
        lambda given: given.answered(Status.MQ_OK, _get_last_entry_of_queue(given)),
    ),
)


@fault(
    "queue-manager-peek-by-cursor-at-returned-message-returns-next-message", breaks="MQDMPR-3.1.7.1.15-12", blind=True
)
class QueueManagerPeekByCursorAtReturnedMessageReturnsNextMessage(QueueCursors):
    """A peek by a cursor at a message that another reader received and returned finds the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
        return status, position


add(
    "successful-peek-returns-status-timeout",
    ("MQDMPR-3.1.7.1.15-13", "MQDMPR-3.1.7.1.15-59"),
    "A peek returns its message with MQ_ERROR_IO_TIMEOUT.",
    replace_step_status(MessageReading.peek_message, Status.MQ_ERROR_IO_TIMEOUT),
)


add(
    "available-message-completes-no-pending-read",
    (
        "MQDMPR-3.1.7.1.9-23",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.10-30",
        "MQDMPR-3.1.7.1.14-24",
        "MQDMPR-3.1.7.1.14-29",
        "MQDMPR-3.1.7.1.15-26",
        "MQDMPR-3.1.7.1.15-31",
        "MQDMPR-3.1.7.1.15-51",
        "MQDMPR-3.1.7.1.15-52",
        "MQDMPR-3.1.7.1.16-D01",
        "MQDMPR-3.1.7.3.1-18",
        "MQDMPR-3.1.7.3.1-21",
        "MQDMPR-3.1.7.3.1-22",
        "MQDMPR-3.1.7.3.1-23",
    ),
    "A message that becomes available completes no pending read.",
    omit_step(WaitingReads.pass_new_message_to_waiting_readers),
)


add(
    "queue-manager-peek-by-second-cursor-of-queue-ignores-cursor",
    "MQDMPR-3.1.7.1.15-10",
    "A peek by a cursor that is not the first cursor of its queue returns the first message of the queue.",
    change_peek_results(lambda peek: peek.is_not_first_cursor_of_queue(), without_cursor=True),
    blind=True,
)


add(
    "queue-manager-repeated-peek-by-cursor-ignores-cursor",
    "MQDMPR-3.1.7.1.15-10",
    "A peek by a cursor that has read a message returns the first message of the queue.",
    change_peek_results(lambda peek: peek.state is CursorState.READ, without_cursor=True),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-with-timeout-ignores-cursor",
    "MQDMPR-3.1.7.1.15-10",
    "A peek by a cursor with a timeout other than zero returns the first message of the queue.",
    change_peek_results(lambda peek: is_peek_with_cursor(peek) and peek.timeout_ms != 0, without_cursor=True),
    blind=True,
)


add(
    "queue-manager-repeated-peek-by-cursor-returns-next-message",
    "MQDMPR-3.1.7.1.15-12",
    "A second peek by a cursor at a message returns the message after that message.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ,
        found=make_change_of_peeked_message(lambda peek, position: get_neighbor_message(position, forward=True)),
    ),
    blind=True,
)


add(
    "queue-manager-repeated-peek-by-cursor-returns-message-before",
    "MQDMPR-3.1.7.1.15-12",
    "A second peek by a cursor at a message returns the message before that message.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ,
        found=make_change_of_peeked_message(lambda peek, position: get_neighbor_message(position, forward=False)),
    ),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-returns-message-of-highest-priority",
    "MQDMPR-3.1.7.1.15-12",
    "A peek by a cursor at a message returns the first message of the queue if that message has a higher priority.",
    change_peek_results(
        is_peek_with_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: next(
                (
                    one
                    for one in peek.list_available_messages()
                    if one.MessageReference.Priority > position.MessageReference.Priority
                ),
                None,
            )
        ),
    ),
    blind=True,
)


add(
    "queue-manager-repeated-peek-by-cursor-times-out",
    "MQDMPR-3.1.7.1.15-13",
    "A second peek by a cursor at an existing message returns MQ_ERROR_IO_TIMEOUT.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ, found=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT)
    ),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-of-large-message-fails",
    "MQDMPR-3.1.7.1.15-13",
    "A peek by a cursor at a message with a large body returns MQ_ERROR_INSUFFICIENT_RESOURCES.",
    change_peek_results(
        is_peek_with_cursor,
        found=make_change_of_message_to_status(
            Status.MQ_ERROR_INSUFFICIENT_RESOURCES, lambda peek, position: has_large_body(position)
        ),
    ),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-of-transactional-message-fails",
    "MQDMPR-3.1.7.1.15-13",
    "A peek by a cursor at a transactional message returns MQ_ERROR_TRANSACTION_USAGE.",
    change_peek_results(
        is_peek_with_cursor,
        found=make_change_of_message_to_status(
            Status.MQ_ERROR_TRANSACTION_USAGE, lambda peek, position: is_transactional(position)
        ),
    ),
    blind=True,
)


@fault(
    "message-search-from-front-skips-first-message",
    breaks=(
        "MQDMPR-3.1.7.1.10-38",
        "MQDMPR-3.1.7.1.15-38",
        "MQDMPR-3.1.7.1.15-58",
        "MQDMPR-3.1.7.3.2-06",
        "MQDMPR-3.1.7.3.2-09",
        "MQDMPR-3.1.7.3.3-10",
        "MQDMPR-3.1.7.3.3-15",
    ),
)
class MessageSearchFromFrontSkipsFirstMessage(MessageSearch):
    """A search from the front of a queue skips the first message if the queue has further messages."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is not SeekDirection.FORWARD or not isinstance(initial_position, Boundary):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found


add(
    "queue-manager-peek-by-cursor-of-dependent-queue-ignores-cursor",
    "MQDMPR-3.1.7.1.15-10",
    "A peek by a cursor of a subqueue or a journal returns the first message of the queue.",
    change_peek_results(lambda peek: is_peek_with_cursor(peek) and peek.queue.parent is not None, without_cursor=True),
)


add(
    "queue-manager-peek-by-fourth-cursor-of-queue-fails",
    "MQDMPR-3.1.7.1.15-13",
    "A peek by the fourth cursor of a queue fails.",
    change_peek_results(
        lambda peek: (
            is_peek_with_cursor(peek)
            and len(peek.list_cursors_of_queue()) > 3
            and peek.list_cursors_of_queue()[3] is peek.cursor
        ),
        found=make_change_of_message_to_status(Status.MQ_ERROR_INSUFFICIENT_RESOURCES),
    ),
)


add(
    "queue-manager-peek-by-cursor-at-express-message-returns-next",
    "MQDMPR-3.1.7.1.15-12",
    "A peek by a cursor at an express message returns the next message.",
    change_peek_results(
        is_peek_with_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: (
                get_neighbor_message(position, forward=True) if is_express_message(position) else None
            )
        ),
    ),
)
