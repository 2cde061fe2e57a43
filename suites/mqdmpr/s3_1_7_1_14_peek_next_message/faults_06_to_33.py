"""Faults that break the rules MQDMPR-3.1.7.1.14-06 to MQDMPR-3.1.7.1.14-33 in only one of several situations."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.calls import change_step_result, replace_step_status
from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now


def _peek_in_owning_queue(part: QueueCursors, cursor: Cursor, journal: bool) -> CursorResult | None:
    """Return the first message of the queue that owns the cursor's journal or subqueue."""
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    owner = None if queue is None else queue.parent
    if owner is None or (owner.JournalQueueReference is queue) is not journal:
        return None
    found = part.qm.message_search.seek_available(owner.MessagePositionList.Start, True)
    return None if found is None else (CursorStatus.SUCCEEDED, found)


@fault("queue-manager-peek-next-in-subqueue-reads-parent-queue", breaks="MQDMPR-3.1.7.1.14-06", blind=True)
class QueueManagerPeekNextInSubqueueReadsParentQueue(QueueCursors):
    """A peek at the next message of a subqueue returns a message of the queue that owns the subqueue."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        return _peek_in_owning_queue(self, cursor, journal=False) or super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-in-journal-reads-parent-queue", breaks="MQDMPR-3.1.7.1.14-06", blind=True)
class QueueManagerPeekNextInJournalReadsParentQueue(QueueCursors):
    """A peek at the next message of a journal returns a message of the queue that owns the journal."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        return _peek_in_owning_queue(self, cursor, journal=True) or super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-reads-queue-opened-last", breaks="MQDMPR-3.1.7.1.14-06", blind=True)
class QueueManagerPeekNextReadsQueueOpenedLast(QueueCursors):
    """A peek at the next message returns the first message of the queue that was opened last."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        latest = next(reversed(self.qm.descriptors.values())).QueueReference
        if latest is not cursor.OpenQueueDescriptorReference.QueueReference and latest is not None:
            found = self.qm.message_search.seek_available(latest.MessagePositionList.Start, True)
            if found is not None:
                return CursorStatus.SUCCEEDED, found
        return super().get_next_message_for_peek(cursor)


def _make_change_of_success_to_failure(when: Any) -> Any:
    """Return a change of a result: a message for which the condition is true is returned with a failure status."""

    def change_status(status: Status, position: MessagePosition | None) -> tuple[Status, MessagePosition | None]:
        failed = position is not None and when(position)
        return (Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION, None) if failed else (status, position)

    return change_status


add(
    "queue-manager-peek-next-at-last-message-returns-illegal-action",
    "MQDMPR-3.1.7.1.14-11",
    "A peek at the next message returns MQ_ERROR_ILLEGAL_CURSOR_ACTION if the next message is the last message of its"
    " queue.",
    change_step_result(
        MessageReading.peek_next_message,
        _make_change_of_success_to_failure(lambda position: not isinstance(position.Next, MessagePosition)),
    ),
    blind=True,
)


add(
    "queue-manager-peek-next-at-transactional-message-returns-illegal-action",
    "MQDMPR-3.1.7.1.14-11",
    "A peek at the next message returns MQ_ERROR_ILLEGAL_CURSOR_ACTION if the next message is transactional.",
    change_step_result(
        MessageReading.peek_next_message,
        _make_change_of_success_to_failure(
            lambda position: position.MessageReference.TransactionIdentifier is not None
        ),
    ),
    blind=True,
)


add(
    "queue-manager-peek-next-at-lower-priority-returns-illegal-action",
    "MQDMPR-3.1.7.1.14-11",
    "A peek at the next message returns MQ_ERROR_ILLEGAL_CURSOR_ACTION if the next message has a lower priority "
    "than the preceding message.",
    change_step_result(
        MessageReading.peek_next_message,
        _make_change_of_success_to_failure(
            lambda position: (
                isinstance(position.Previous, MessagePosition)
                and position.Previous.MessageReference.Priority > position.MessageReference.Priority
            )
        ),
    ),
    blind=True,
)


def _is_peek_next(reader: WaitingMessageReadOperation) -> bool:
    return (
        not reader.DestructiveRead
        and reader.CursorReference is not None
        and reader.CursorReference.CursorState is CursorState.WAIT_PEEK
    )


@fault("queue-manager-pending-peek-next-returns-first-message", breaks="MQDMPR-3.1.7.1.14-24", blind=True)
class QueueManagerPendingPeekNextReturnsFirstMessage(WaitingReads):
    """When a message arrives, a pending peek at the next message returns the first message of the queue."""

    @faulty_only_if(lambda self, reader, position: _is_peek_next(reader))
    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        first = self.qm.message_search.seek_available(position.QueueReference.MessagePositionList.Start, True)
        super().pass_message_to_waiting_reader(reader, first or position)


@fault("queue-manager-second-pending-peek-next-misses-message", breaks="MQDMPR-3.1.7.1.14-24", blind=True)
class QueueManagerSecondPendingPeekNextMissesMessage(WaitingReads):
    """Only the first pending peek at the next message of an open queue returns the message that arrives."""

    def wait_for_new_message(self, queue_desc: OpenQueueDescriptor, *given: Any, **named: Any) -> None:
        earlier = [one for one in queue_desc.WaitingMessageReadOperationCollection if _is_peek_next(one)]
        super().wait_for_new_message(queue_desc, *given, **named)
        for reader in list(queue_desc.WaitingMessageReadOperationCollection):
            if earlier and _is_peek_next(reader) and reader not in earlier:
                del self.qm.readers[reader.number]


@fault("queue-manager-pending-peek-next-misses-transactional-message", breaks="MQDMPR-3.1.7.1.14-24", blind=True)
class QueueManagerPendingPeekNextMissesTransactionalMessage(WaitingReads):
    """A pending peek at the next message ends without a message when a transactional message arrives."""

    @faulty_only_if(lambda self, reader, position: _is_peek_next(reader))
    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is not None:
            self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)
        else:
            super().pass_message_to_waiting_reader(reader, position)


add(
    "queue-manager-expired-peek-next-returns-not-found",
    "MQDMPR-3.1.7.1.14-33",
    "A pending peek at the next message whose timeout expires returns MQ_ERROR_MESSAGE_NOT_FOUND.",
    replace_step_status(
        MessageReading.peek_next_message, Status.MQ_ERROR_MESSAGE_NOT_FOUND, of=Status.MQ_ERROR_IO_TIMEOUT
    ),
    blind=True,
)


def _report_cancelled_read_as_timed_out(
    status: Status, position: MessagePosition | None
) -> tuple[Status, MessagePosition | None]:
    cancelled = Status.MQ_ERROR_OPERATION_CANCELLED, Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
    return (Status.MQ_ERROR_IO_TIMEOUT if status in cancelled else status), position


add(
    "queue-manager-cancelled-peek-next-returns-timeout",
    "MQDMPR-3.1.7.1.14-33",
    "A cancelled peek at the next message returns MQ_ERROR_IO_TIMEOUT.",
    change_step_result(MessageReading.peek_next_message, _report_cancelled_read_as_timed_out),
    blind=True,
)


@fault("server-pending-peek-next-of-deleted-queue-returns-io-timeout", breaks="MQDMPR-3.1.7.1.14-33", blind=True)
class ServerPendingPeekNextOfDeletedQueueReturnsIoTimeout(MessageReading):
    """A pending peek at the next message that ends because its queue is deleted returns MQ_ERROR_IO_TIMEOUT instead of
    MQ_ERROR_QUEUE_NOT_AVAILABLE.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        def report_deletion_as_timeout(status: Status, position: MessagePosition | None) -> None:
            deleted = status is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE
            answered(Status.MQ_ERROR_IO_TIMEOUT if deleted else status, position)

        given = answered if queue_desc.QueueReference is None else report_deletion_as_timeout
        super().peek_next_message(queue_desc, given, now, cursor, timeout_ms, tag)
