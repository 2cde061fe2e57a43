"""Faults of MS-MQDMPR 3.1.7.1.15 Peek Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("cursor-not-asked-by-peeks", breaks=("MQDMPR-3.1.7.1.15-10", "MQDMPR-3.1.7.1.15-12"))
class CursorNotAsked(Reading):
    """A peek by a cursor reads the last message that the cursor could come to, not the one that it is at."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if cursor is not None and queue_desc.QueueReference is not None:
            tail = queue_desc.QueueReference.MessagePositionList.Tail
            if isinstance(tail, MessagePosition):
                answered(Status.MQ_OK, tail)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("peek-in-the-first-open-queue", breaks="MQDMPR-3.1.7.1.15-06")
class InTheFirstOpenQueue(Reading):
    """A peek without a cursor reads in the queue that was opened first."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        first = queue_desc if cursor is not None else next(iter(self.qm.descriptors.values()))
        super().peek_message(first, answered, now, timeout_ms, cursor, tag)


@fault("peek-told-as-timed-out", breaks=("MQDMPR-3.1.7.1.15-13", "MQDMPR-3.1.7.1.15-59"))
class ToldAsTimedOut(Reading):
    """A peek brings its message with MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        def answer(status: Status, found: MessagePosition | None) -> None:
            answered(Status.MQ_ERROR_IO_TIMEOUT if status is Status.MQ_OK else status, found)

        super().peek_message(queue_desc, answer, now, timeout_ms, cursor, tag)


@fault("peek-at-taken-message-reads-the-next", breaks=("MQDMPR-3.1.7.1.15-15", "MQDMPR-3.1.7.1.15-16"))
class ReadsTheNext(Cursors):
    """A peek by a cursor whose message was taken reads the one behind it."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


class _WithoutATimeOut(Waiting):
    """Take another time-out in place of none."""

    instead_ms: int

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        given_ms = self.instead_ms if timeout_ms is None else timeout_ms
        super().wait_for_new_message(queue_desc, given_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault(
    "no-time-out-is-no-time",
    breaks=("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
)
class NoTime(_WithoutATimeOut):
    """A read without a time-out does not wait."""

    instead_ms = 0


@fault(
    "no-time-out-is-a-day",
    breaks=("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.1.14-07", "MQDMPR-3.1.7.1.15-07"),
)
class ADay(_WithoutATimeOut):
    """A read without a time-out waits for a day."""

    instead_ms = 86_400_000
