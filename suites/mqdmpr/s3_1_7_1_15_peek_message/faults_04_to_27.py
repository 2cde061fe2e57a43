"""Faults that break the rules MQDMPR-3.1.7.1.15-04 to MQDMPR-3.1.7.1.15-26."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.calls import Given, replace_step_if, with_arguments, with_status
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-peek-by-cursor-of-deleted-queue-times-out", breaks="MQDMPR-3.1.7.1.15-04", blind=True)
class QueueManagerPeekByCursorOfDeletedQueueTimesOut(Reading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
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
class PeekByCursorOfDeletedQueueReturnsAlreadyReceived(Reading):
    """A peek by a cursor of a deleted queue returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor is not None:
            answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
        else:
            super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


def _get_first_open_queue(given: Given) -> OpenQueueDescriptor:
    return next(iter(given.qm.descriptors.values()))


add(
    "peek-reads-first-opened-queue",
    "MQDMPR-3.1.7.1.15-06",
    "A peek without a cursor reads the queue that was opened first.",
    with_arguments(
        Reading.peek_message,
        queue_desc=lambda given: given.queue_desc if given.cursor is not None else _get_first_open_queue(given),
    ),
)


def _set_missing_timeout(instead_ms: int) -> Install:
    """Build a fault in which the queue manager uses a given timeout for each read without a timeout."""
    return with_arguments(
        Waiting.wait_for_new_message,
        timeout_ms=lambda given: instead_ms if given.timeout_ms is None else given.timeout_ms,
    )


add(
    "read-without-timeout-does-not-wait",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout does not wait.",
    _set_missing_timeout(0),
)


add(
    "read-without-timeout-waits-one-day",
    ("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
    "A read without a timeout waits for one day.",
    _set_missing_timeout(86_400_000),
)


@fault("pending-peek-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.15-07")
class PendingPeekWithoutTimeoutWaitsOneMinute(Reading):
    """A peek by a cursor without a timeout ends after one minute."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        limited = 60_000 if timeout_ms is None and cursor is not None else timeout_ms
        super().peek_message(queue_desc, answered, now, limited, cursor, tag)


def _get_last_entry(given: Given) -> Entry | None:
    """Return the last entry of the queue, or None if the queue was deleted."""
    queue = given.queue_desc.QueueReference
    return None if queue is None else queue.MessagePositionList.Tail


add(
    "peek-by-cursor-returns-last-message",
    ("MQDMPR-3.1.7.1.15-10", "MQDMPR-3.1.7.1.15-12"),
    "A peek by a cursor returns the last message that the cursor could reach.",
    replace_step_if(
        Reading.peek_message,
        lambda given: given.cursor is not None and isinstance(_get_last_entry(given), MessagePosition),
        lambda given: given.answered(Status.MQ_OK, _get_last_entry(given)),
    ),
)


@fault("queue-manager-cursor-at-returned-message-finds-next", breaks="MQDMPR-3.1.7.1.15-12", blind=True)
class QueueManagerCursorAtReturnedMessageFindsNext(Cursors):
    """A peek by a cursor at a message that another reader received and returned finds the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
        return status, position


add(
    "successful-peek-returns-status-timeout",
    ("MQDMPR-3.1.7.1.15-13", "MQDMPR-3.1.7.1.15-59"),
    "A peek returns its message with MQ_ERROR_IO_TIMEOUT.",
    with_status(Reading.peek_message, Status.MQ_ERROR_IO_TIMEOUT),
)


@fault("peek-by-cursor-skips-received-message", breaks=("MQDMPR-3.1.7.1.15-15", "MQDMPR-3.1.7.1.15-16"))
class PeekByCursorSkipsReceivedMessage(Cursors):
    """A peek by a cursor whose message another reader has received returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


@fault("peek-by-cursor-returns-message-locked-by-transaction", breaks="MQDMPR-3.1.7.1.15-15")
class PeekByCursorReturnsMessageLockedByTransaction(Cursors):
    """A peek by a cursor returns its message although a transaction received the message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        position = cursor.MessagePositionReference
        read = cursor.CursorState is CursorState.READ and not isinstance(position, Boundary)
        if read and not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED:
            return CursorStatus.SUCCEEDED, position
        return super().get_message_for_peek(cursor)


@fault("queue-manager-cursor-at-purged-message-finds-next", breaks="MQDMPR-3.1.7.1.15-16", blind=True)
class QueueManagerCursorAtPurgedMessageFindsNext(Queues):
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
class PeekByCursorAtMessageLockedByTransactionWaits(Cursors):
    """A peek by a cursor whose message a transaction received waits instead of returning an error."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        locked = not isinstance(position, Boundary) and position.State is MessagePositionState.LOCKED
        if got[0] is CursorStatus.ALREADY_RECEIVED and locked:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        return got


@fault("second-peek-by-waiting-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.15-18")
class SecondPeekByWaitingCursorDoesNotWait(Reading):
    """When the wait of a peek by a cursor has expired, a second peek by this cursor ends without waiting."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        again = cursor is not None and cursor.CursorState is CursorState.WAIT_PEEK
        super().peek_message(queue_desc, answered, now, 0 if again else timeout_ms, cursor, tag)


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
    skip(Waiting.release_readers),
)


@fault("second-waiting-peek-by-cursor-not-released", breaks="MQDMPR-3.1.7.1.15-26", blind=True)
class SecondWaitingPeekByCursorNotReleased(Waiting):
    """An arriving message completes only the first of several pending peeks by cursors."""

    def release_readers(self, position: MessagePosition) -> None:
        served = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                by_cursor = reader.CursorReference is not None and not reader.DestructiveRead
                if reader.number not in self.qm.readers or (served and by_cursor):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                self.satisfy_reader(reader, found)
                served = served or by_cursor
