"""Faults that break the rules MQDMPR-3.1.7.1.15-38 to MQDMPR-3.1.7.1.15-59."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import add
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_15_peek_message.fault_steps import (
    change_peek_results,
    change_status_of_ended_peek,
    get_neighbor_message,
    has_large_body,
    is_express_message,
    is_peek_without_cursor,
    make_change_of_message_to_status,
    make_change_of_peeked_message,
)


@fault("peek-without-cursor-returns-message-received-in-two-phases", breaks="MQDMPR-3.1.7.1.15-38")
class PeekWithoutCursorReturnsMessageReceivedInTwoPhases(MessageSearch):
    """A peek without a cursor returns a message that another reader received in two phases."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        held = any(
            operation.MessagePositionReference is position
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
        )
        if position.State is MessagePositionState.LOCKED and peek_operation and not held:
            return True
        return super().is_message_readable(position, peek_operation)


@fault("peek-of-queue-with-locked-message-does-not-wait", breaks="MQDMPR-3.1.7.1.15-44")
class PeekOfQueueWithLockedMessageDoesNotWait(MessageReading):
    """A peek without a cursor at a queue whose only message is locked returns MQ_ERROR_MESSAGE_NOT_FOUND at once."""

    def _answer_read_or_wait(
        self,
        queue_desc: OpenQueueDescriptor,
        got: CursorResult,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None,
        cursor: Cursor | None,
        transaction: object = None,
    ) -> None:
        assert queue_desc.QueueReference is not None
        first = queue_desc.QueueReference.MessagePositionList.Start.Next
        empty = isinstance(first, Boundary)
        if got[0] is CursorStatus.WAITING and cursor is None and not destructive_read and not empty:
            answered(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        super()._answer_read_or_wait(
            queue_desc,
            got,
            timeout_ms,
            destructive_read,
            answered,
            now,
            tag,
            cursor,
            transaction,  # type: ignore[arg-type]
        )


@fault("queue-manager-returned-message-completes-no-peek", breaks="MQDMPR-3.1.7.1.15-51", blind=True)
class QueueManagerReturnedMessageCompletesNoPeek(MessagePositions):
    """A message that a reader returns, or that an abort unlocks, completes no waiting peek."""

    def unlock_message(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        waiting = {
            descriptor: [one for one in descriptor.WaitingMessageReadOperationCollection if not one.DestructiveRead]
            for descriptor in queue.OpenQueueDescriptorCollection.values()
        }
        for descriptor, readers in waiting.items():
            for reader in readers:
                del descriptor.WaitingMessageReadOperationCollection[reader]
        super().unlock_message(position)
        for descriptor, readers in waiting.items():
            for reader in readers:
                descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("queue-manager-waiting-peek-of-second-handle-not-completed", breaks="MQDMPR-3.1.7.1.15-51", blind=True)
class QueueManagerWaitingPeekOfSecondHandleNotCompleted(WaitingReads):
    """A message that becomes available completes only the pending peeks with the first handle of the queue."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        done: OpenQueueDescriptor | None = None
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers:
                    continue
                if not reader.DestructiveRead and done not in (None, descriptor):
                    continue
                found = self._find_message_for_reader(reader, position)
                if found is None:
                    return
                if not reader.DestructiveRead:
                    done = descriptor
                self.pass_message_to_waiting_reader(reader, found)


@fault("second-pending-peek-without-cursor-gets-no-message", breaks="MQDMPR-3.1.7.1.15-51")
class SecondPendingPeekWithoutCursorGetsNoMessage(WaitingReads):
    """A message that arrives completes one pending peek without a cursor; a second such peek continues to wait."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        peeked = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                plain = not reader.DestructiveRead and reader.CursorReference is None
                if reader.number not in self.qm.readers or (peeked and plain):
                    continue
                found = self._find_message_for_reader(reader, position)
                if found is None:
                    return
                peeked = peeked or plain
                self.pass_message_to_waiting_reader(reader, found)


@fault("queue-manager-peek-past-locked-first-message-waits", breaks="MQDMPR-3.1.7.1.15-58", blind=True)
class QueueManagerPeekPastLockedFirstMessageWaits(MessageReading):
    """A peek at a queue whose first message is locked waits, although a second message is available."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        head = None if queue is None else queue.MessagePositionList.Head
        if cursor is None and isinstance(head, MessagePosition) and head.State is MessagePositionState.LOCKED:
            self.qm.waiting_reads.wait_for_new_message(queue_desc, timeout_ms, False, answered, now, tag, cursor)
            return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-unlocks-first-message", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerPeekUnlocksFirstMessage(MessageReading):
    """A peek without a cursor unlocks the first message of the queue if another reader has locked the message."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        head = None if queue is None else queue.MessagePositionList.Head
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
        if isinstance(head, MessagePosition) and head.State is MessagePositionState.LOCKED:
            head.State = MessagePositionState.AVAILABLE


@fault("queue-manager-peek-of-nonzero-priority-message-times-out", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerPeekOfNonzeroPriorityMessageTimesOut(MessageReading):
    """A peek without a cursor returns MQ_ERROR_IO_TIMEOUT when the message that it finds has a nonzero priority."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if cursor is None and queue_desc.QueueReference is not None:
            found = self.qm.message_search.seek_available(queue_desc.QueueReference.MessagePositionList.Start, True)
            if found is not None and found.MessageReference.Priority:
                answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("queue-manager-peek-of-locked-messages-ends-at-once", breaks="MQDMPR-3.1.7.1.15-44", blind=True)
class QueueManagerPeekOfLockedMessagesEndsAtOnce(MessageReading):
    """A peek at a queue that has only locked messages does not wait, but ends at once with MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if cursor is None and queue is not None:
            positions = queue.MessagePositionList
            readable = self.qm.message_search.seek_available(positions.Start, True)
            if readable is None and any(
                one.State is MessagePositionState.LOCKED and not one.is_disk_write_pending for one in positions
            ):
                answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


add(
    "queue-manager-peek-without-cursor-returns-first-arrived-message",
    "MQDMPR-3.1.7.1.15-38",
    "A peek without a cursor returns the message that arrived first, although a later message has a higher priority.",
    change_peek_results(
        is_peek_without_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: min(peek.list_available_messages(), key=lambda one: one.order, default=None)
        ),
    ),
    blind=True,
)


add(
    "queue-manager-peek-without-cursor-returns-message-after-cursor",
    "MQDMPR-3.1.7.1.15-38",
    "A peek without a cursor by a handle that has a cursor returns the message after that cursor.",
    change_peek_results(
        is_peek_without_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: next(
                filter(
                    None,
                    (
                        get_neighbor_message(one.MessagePositionReference, forward=True)
                        for one in peek.descriptor.CursorCollection.values()
                    ),
                ),
                None,
            )
        ),
    ),
    blind=True,
)


def _answer_second_peek_with_next_message(part: MessageReading, original: Callable[..., None], *arguments: Any) -> None:
    descriptor, answered, *rest = arguments
    peeked = part.__dict__.setdefault("peeked", set())

    def answer_with_following_message(status: Status, position: MessagePosition | None) -> None:
        following = get_neighbor_message(position, forward=True) if descriptor.Handle in peeked else None
        peeked.add(descriptor.Handle)
        answered(status, following or position)

    original(
        descriptor, answer_with_following_message if len(arguments) < 5 or arguments[4] is None else answered, *rest
    )


add(
    "queue-manager-second-peek-without-cursor-returns-second-message",
    "MQDMPR-3.1.7.1.15-38",
    "The second peek without a cursor by a handle returns the second message of the queue.",
    change_step(MessageReading.peek_message, _answer_second_peek_with_next_message),
    blind=True,
)


add(
    "queue-manager-pending-peek-returns-error-for-large-message",
    "MQDMPR-3.1.7.1.15-52",
    "A pending peek without a cursor returns MQ_ERROR_INSUFFICIENT_RESOURCES when a message with a large body arrives.",
    change_peek_results(
        is_peek_without_cursor,
        arrived=make_change_of_message_to_status(
            Status.MQ_ERROR_INSUFFICIENT_RESOURCES, lambda peek, position: has_large_body(position)
        ),
    ),
    blind=True,
)


add(
    "queue-manager-second-pending-peek-returns-error-with-message",
    "MQDMPR-3.1.7.1.15-52",
    "A pending peek without a cursor that began while another read waited returns MQ_ERROR_IO_TIMEOUT when a message "
    "arrives.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.count_waiting_reads() > 0,
        arrived=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT),
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-without-limit-returns-error-with-message",
    "MQDMPR-3.1.7.1.15-52",
    "A pending peek without a cursor and without a time limit returns MQ_ERROR_IO_TIMEOUT when a message arrives.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.timeout_ms is None,
        arrived=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT),
    ),
    blind=True,
)


add(
    "queue-manager-vain-peek-without-wait-returns-not-found",
    "MQDMPR-3.1.7.1.15-55",
    "A peek without a cursor and with timeout zero returns MQ_ERROR_MESSAGE_NOT_FOUND instead of MQ_ERROR_IO_TIMEOUT.",
    change_status_of_ended_peek(
        lambda peek: is_peek_without_cursor(peek) and peek.timeout_ms == 0,
        lambda old: old is Status.MQ_ERROR_IO_TIMEOUT,
        Status.MQ_ERROR_MESSAGE_NOT_FOUND,
    ),
    blind=True,
)


add(
    "queue-manager-second-vain-peek-returns-not-found",
    "MQDMPR-3.1.7.1.15-55",
    "A peek without a cursor that waits in vain while another read waits returns MQ_ERROR_MESSAGE_NOT_FOUND "
    "instead of MQ_ERROR_IO_TIMEOUT.",
    change_status_of_ended_peek(
        lambda peek: is_peek_without_cursor(peek) and peek.count_waiting_reads() > 0,
        lambda old: old is Status.MQ_ERROR_IO_TIMEOUT,
        Status.MQ_ERROR_MESSAGE_NOT_FOUND,
    ),
    blind=True,
)


add(
    "queue-manager-peek-without-cursor-in-open-handle-returns-second-message",
    "MQDMPR-3.1.7.1.15-58",
    "A peek without a cursor returns the second message of the queue if two handles of the queue are open.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and len(peek.queue.OpenQueueDescriptorCollection) > 1,
        found=make_change_of_peeked_message(lambda peek, position: get_neighbor_message(position, forward=True)),
    ),
    blind=True,
)


add(
    "queue-manager-peek-without-cursor-returns-large-message-late",
    "MQDMPR-3.1.7.1.15-58",
    "A peek without a cursor that finds a message with a large body returns the next message.",
    change_peek_results(
        is_peek_without_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: get_neighbor_message(position, forward=True) if has_large_body(position) else None
        ),
    ),
    blind=True,
)


add(
    "queue-manager-peek-without-cursor-with-timeout-returns-last-message",
    "MQDMPR-3.1.7.1.15-58",
    "A peek without a cursor and with a timeout other than zero returns the last message of the queue.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.timeout_ms != 0,
        found=make_change_of_peeked_message(lambda peek, position: peek.list_available_messages()[-1]),
    ),
    blind=True,
)


add(
    "queue-manager-pending-peek-returns-error-for-express-message",
    "MQDMPR-3.1.7.1.15-52",
    "A pending peek without a cursor returns an error when an express message arrives.",
    change_peek_results(
        is_peek_without_cursor,
        arrived=make_change_of_message_to_status(
            Status.MQ_ERROR_IO_TIMEOUT, lambda peek, position: is_express_message(position)
        ),
    ),
)


add(
    "queue-manager-pending-peek-of-peeking-handle-returns-error",
    "MQDMPR-3.1.7.1.15-52",
    "A pending peek without a cursor by a handle that was opened to peek returns an error when a message arrives.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.is_handle_opened_to_peek(),
        arrived=make_change_of_message_to_status(Status.MQ_ERROR_IO_TIMEOUT),
    ),
)


add(
    "queue-manager-peek-of-peeking-handle-returns-second-message",
    "MQDMPR-3.1.7.1.15-38",
    "A peek without a cursor by a handle that was opened to peek returns the second message.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.is_handle_opened_to_peek(),
        found=make_change_of_peeked_message(lambda peek, position: get_neighbor_message(position, forward=True)),
    ),
)


add(
    "queue-manager-peek-without-cursor-returns-message-after-express",
    "MQDMPR-3.1.7.1.15-58",
    "A peek without a cursor that finds an express message returns the next message.",
    change_peek_results(
        is_peek_without_cursor,
        found=make_change_of_peeked_message(
            lambda peek, position: (
                get_neighbor_message(position, forward=True) if is_express_message(position) else None
            )
        ),
    ),
)


add(
    "queue-manager-peek-of-dependent-queue-returns-second-message",
    "MQDMPR-3.1.7.1.15-58",
    "A peek without a cursor at a subqueue or a journal returns the second message.",
    change_peek_results(
        lambda peek: is_peek_without_cursor(peek) and peek.queue.parent is not None,
        found=make_change_of_peeked_message(lambda peek, position: get_neighbor_message(position, forward=True)),
    ),
)
