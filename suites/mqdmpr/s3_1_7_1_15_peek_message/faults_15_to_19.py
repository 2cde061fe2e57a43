"""Faults that break the rules MQDMPR-3.1.7.1.15-15 to MQDMPR-3.1.7.1.15-19."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

from harness.faults.parts import change_step, fault
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_7_1_15_peek_message.fault_steps import (
    change_peek_results,
    get_neighbor_message,
    is_peek_with_cursor,
)


@fault("peek-by-cursor-returns-message-locked-by-transaction", breaks="MQDMPR-3.1.7.1.15-15")
class PeekByCursorReturnsMessageLockedByTransaction(QueueCursors):
    """A peek by a cursor returns its message although a transaction received the message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        position = cursor.MessagePositionReference
        read = cursor.CursorState is CursorState.READ and not isinstance(position, Boundary)
        if read and not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED:
            return CursorStatus.SUCCEEDED, position
        return super().get_message_for_peek(cursor)


@fault("queue-manager-peek-by-cursor-at-purged-message-returns-next-message", breaks="MQDMPR-3.1.7.1.15-16", blind=True)
class QueueManagerPeekByCursorAtPurgedMessageReturnsNextMessage(QueueLifecycle):
    """A peek by a cursor at a message that was purged does not fail, but reads the next message."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for cursor in descriptor.CursorCollection.values():
                cursor.CursorState = CursorState.UNREAD
        return super().purge(queue, token, done, failed)


@fault("peek-by-cursor-at-message-locked-by-transaction-waits", breaks="MQDMPR-3.1.7.1.15-16")
class PeekByCursorAtMessageLockedByTransactionWaits(QueueCursors):
    """A peek by a cursor whose message a transaction received waits instead of returning an error."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        locked = not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED
        if got[0] is CursorStatus.ALREADY_RECEIVED and locked:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        return got


@fault("second-peek-by-waiting-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.15-18")
class SecondPeekByWaitingCursorDoesNotWait(MessageReading):
    """When the wait of a peek by a cursor has expired, a second peek by this cursor ends without waiting."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        again = cursor is not None and cursor.CursorState is CursorState.WAIT_PEEK
        super().peek_message(queue_desc, answered, now, 0 if again else timeout_ms, cursor, tag)


add(
    "queue-manager-peek-by-cursor-at-received-message-returns-message-before",
    "MQDMPR-3.1.7.1.15-15",
    "A peek by a cursor whose message another reader has received returns the message before that message.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ and get_neighbor_message(peek.entry, forward=False) is not None,
        ended=lambda peek, status: (Status.MQ_OK, get_neighbor_message(peek.entry, forward=False)),
    ),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-at-locked-message-returns-message",
    "MQDMPR-3.1.7.1.15-15",
    "A peek by a cursor whose message another reader receives, but has not yet acknowledged, returns that message.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ and _is_locked_message(peek.entry),
        ended=lambda peek, status: (Status.MQ_OK, cast("MessagePosition", peek.entry)),
    ),
    blind=True,
)


@fault(
    "queue-manager-second-peek-by-cursor-at-received-message-returns-next-message",
    breaks="MQDMPR-3.1.7.1.15-15",
    blind=True,
)
class QueueManagerSecondPeekByCursorAtReceivedMessageReturnsNextMessage(QueueCursors):
    """After a peek by a cursor has failed because its message was received, the next peek by the cursor returns the
    following message.
    """

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got: CursorResult = super().get_message_for_peek(cursor)
        if got[0] is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
        return got


add(
    "queue-manager-peek-by-cursor-without-limit-does-not-wait",
    "MQDMPR-3.1.7.1.15-18",
    "A peek by a cursor without a time limit returns at once if the queue has no message.",
    change_peek_results(lambda peek: is_peek_with_cursor(peek) and peek.timeout_ms is None, timeout_ms=lambda peek: 0),
    blind=True,
)


add(
    "queue-manager-second-peek-by-cursor-of-queue-does-not-wait",
    "MQDMPR-3.1.7.1.15-18",
    "A peek by a cursor returns at once without a message if another read waits for a message of the queue.",
    change_peek_results(
        lambda peek: is_peek_with_cursor(peek) and peek.count_waiting_reads() > 0, timeout_ms=lambda peek: 0
    ),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-does-not-wait-again",
    "MQDMPR-3.1.7.1.15-18",
    "A peek by a cursor returns at once without a message if an earlier peek by that cursor has waited in vain.",
    change_peek_results(lambda peek: peek.state is CursorState.WAIT_PEEK, timeout_ms=lambda peek: 0),
    blind=True,
)


add(
    "queue-manager-peek-by-cursor-does-not-wait-after-locked-message",
    "MQDMPR-3.1.7.1.15-18",
    "A peek by a cursor returns at once without a message if all messages of the queue are locked.",
    change_peek_results(
        lambda peek: is_peek_with_cursor(peek) and len(peek.queue.MessagePositionList) > 0, timeout_ms=lambda peek: 0
    ),
    blind=True,
)


add(
    "queue-manager-second-peek-by-cursor-of-queue-waits-half-its-timeout",
    "MQDMPR-3.1.7.1.15-19",
    "A peek by a cursor ends after half its timeout if another read waits for a message of the queue.",
    change_peek_results(
        lambda peek: is_peek_with_cursor(peek) and peek.count_waiting_reads() > 0,
        timeout_ms=lambda peek: None if peek.timeout_ms is None else peek.timeout_ms // 2,
    ),
    blind=True,
)


add(
    "queue-manager-second-wait-of-cursor-ends-early",
    "MQDMPR-3.1.7.1.15-19",
    "A peek by a cursor ends after half its timeout if an earlier peek by that cursor has waited in vain.",
    change_peek_results(
        lambda peek: peek.state is CursorState.WAIT_PEEK,
        timeout_ms=lambda peek: None if peek.timeout_ms is None else peek.timeout_ms // 2,
    ),
    blind=True,
)


def _end_all_waiting_cursor_reads(part: WaitingReads, original: Callable[..., None], number: int) -> None:
    reader = part.qm.readers[number]
    if reader.CursorReference is not None:
        for other in list(reader.descriptor.WaitingMessageReadOperationCollection):
            if other is not reader and other.CursorReference is not None and other.number in part.qm.readers:
                part.end_wait_without_message(other, Status.MQ_ERROR_IO_TIMEOUT)
    original(number)


add(
    "queue-manager-timeout-of-one-peek-by-cursor-ends-the-others",
    "MQDMPR-3.1.7.1.15-19",
    "When the timeout of a pending peek by a cursor expires, the other pending peeks by cursors of that handle end.",
    change_step(WaitingReads.on_waiting_message_read_timer, _end_all_waiting_cursor_reads),
    blind=True,
)


def _is_locked_message(entry: Entry | None) -> bool:
    return isinstance(entry, MessagePosition) and entry.State is MessagePositionState.LOCKED


add(
    "queue-manager-peek-by-cursor-of-peeking-handle-does-not-wait",
    "MQDMPR-3.1.7.1.15-18",
    "A peek by a cursor of a handle that was opened to peek does not wait.",
    change_peek_results(
        lambda peek: is_peek_with_cursor(peek) and peek.is_handle_opened_to_peek(), timeout_ms=lambda peek: 0
    ),
)


add(
    "queue-manager-peek-by-cursor-at-received-message-of-same-handle-returns-it",
    "MQDMPR-3.1.7.1.15-15",
    "A peek by a cursor whose message another cursor of the same handle has locked returns that message.",
    change_peek_results(
        lambda peek: peek.state is CursorState.READ and len(peek.descriptor.CursorCollection) > 1,
        ended=lambda peek, status: (
            (Status.MQ_OK, peek.entry) if isinstance(peek.entry, MessagePosition) else (status, None)
        ),
    ),
)
