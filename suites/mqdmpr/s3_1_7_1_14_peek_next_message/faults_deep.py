"""Faults of MS-MQDMPR 3.1.7.1.14 Peek Next Message that only special cases reveal: later reads, other causes, and
limits of arguments.
"""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now

A_DAY_MS = 86_400_000


@fault("queue-manager-peek-next-of-unread-cursor-in-deleted-queue-illegal", breaks="MQDMPR-3.1.7.1.14-04")
class QueueManagerPeekNextOfUnreadCursorInDeletedQueueIllegal(Reading):
    """A peek at the next message by a cursor that has read no message returns MQ_ERROR_ILLEGAL_CURSOR_ACTION although
    the queue was deleted.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is None and cursor.CursorState is CursorState.UNREAD:
            answered(Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION, None)
            return
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("queue-manager-peek-next-without-timeout-ends-after-a-day", breaks="MQDMPR-3.1.7.1.14-07")
class QueueManagerPeekNextWithoutTimeoutEndsAfterADay(Reading):
    """A peek at the next message without a timeout ends after a day."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        timeout_ms = A_DAY_MS if timeout_ms is None else timeout_ms
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("queue-manager-peek-next-timeout-truncated-to-16-bits", breaks="MQDMPR-3.1.7.1.14-17")
class QueueManagerPeekNextTimeoutTruncatedTo16Bits(Reading):
    """The queue manager uses only the low 16 bits of the timeout in milliseconds of a peek at the next message."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        timeout_ms = None if timeout_ms is None else timeout_ms & 0xFFFF
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("queue-manager-peek-next-after-removed-message-starts-at-queue-start", breaks="MQDMPR-3.1.7.1.14-10")
class QueueManagerPeekNextAfterRemovedMessageStartsAtQueueStart(Cursors):
    """A peek at the next message returns the first message of the queue if the cursor's message was removed."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        if not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED:
            self.rewind(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-after-receive-by-cursor-allowed", breaks="MQDMPR-3.1.7.1.14-14")
class QueueManagerPeekNextAfterReceiveByCursorAllowed(Cursors):
    """A peek at the next message by a cursor that has just received its message succeeds."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.UNREAD and not isinstance(cursor.MessagePositionReference, Boundary):
            cursor.CursorState = CursorState.READ
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-arriving-message-completes-first-peek-next-only", breaks="MQDMPR-3.1.7.1.14-27")
class QueueManagerArrivingMessageCompletesFirstPeekNextOnly(Waiting):
    """A message that completes a pending peek at the next message completes no other peek at the next message."""

    def release_readers(self, position: MessagePosition) -> None:
        descriptors = position.QueueReference.OpenQueueDescriptorCollection.values()
        peeks = [
            (descriptor, one)
            for descriptor in descriptors
            for one in descriptor.WaitingMessageReadOperationCollection
            if one.CursorReference is not None and not one.DestructiveRead
        ]
        for descriptor, one in peeks[1:]:
            del descriptor.WaitingMessageReadOperationCollection[one]
        super().release_readers(position)
        for descriptor, one in peeks[1:]:
            descriptor.WaitingMessageReadOperationCollection[one] = None


@fault("queue-manager-peek-next-of-cursor-with-locked-message-returns-it-again", breaks="MQDMPR-3.1.7.1.14-08")
class QueueManagerPeekNextOfCursorWithLockedMessageReturnsItAgain(Cursors):
    """A peek at the next message waits if the message after the cursor's message is locked, although a later message is
    available.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        if not isinstance(at, Boundary) and at.State is MessagePositionState.LOCKED:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        return super().get_next_message_for_peek(cursor)
