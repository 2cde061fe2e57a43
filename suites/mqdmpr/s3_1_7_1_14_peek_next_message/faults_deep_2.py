"""Further faults of MS-MQDMPR 3.1.7.1.14 Peek Next Message: moved cursors, second waits and several readers."""

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
from reference_qm.model.statuses import CursorStatus
from reference_qm.surface.clock import Now


@fault("peek-next-after-receive-by-cursor-returns-message", breaks="MQDMPR-3.1.7.1.14-13")
class PeekNextAfterReceiveByCursorReturnsMessage(Cursors):
    """A peek at the next message succeeds after a receive by the same cursor, although the cursor must read a message
    first.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if not isinstance(cursor.MessagePositionReference, Boundary):
            return self._seek_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("peek-next-after-receive-by-cursor-returns-already-received", breaks="MQDMPR-3.1.7.1.14-14")
class PeekNextAfterReceiveByCursorReturnsAlreadyReceived(Cursors):
    """A peek at the next message after a receive by the same cursor returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        got = super().get_next_message_for_peek(cursor)
        moved = not isinstance(cursor.MessagePositionReference, Boundary)
        return (CursorStatus.ALREADY_RECEIVED, None) if moved and got[0] is CursorStatus.ILLEGAL_CURSOR_ACTION else got


@fault("second-pending-peek-next-of-cursor-does-not-wait", breaks="MQDMPR-3.1.7.1.14-16")
class SecondPendingPeekNextOfCursorDoesNotWait(Reading):
    """When the wait of a cursor for the next message has expired, a second peek at the next message by this cursor ends
    without waiting.
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
        again = cursor.CursorState is CursorState.WAIT_PEEK
        super().peek_next_message(queue_desc, answered, now, cursor, 0 if again else timeout_ms, tag)


@fault("peek-next-of-received-message-begins-at-start-of-queue", breaks="MQDMPR-3.1.7.1.14-10")
class PeekNextOfReceivedMessageBeginsAtStartOfQueue(Cursors):
    """A peek at the next message returns the first message when another reader has received the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        position = cursor.MessagePositionReference
        if not isinstance(position, Boundary) and position.State is MessagePositionState.DELETED:
            self.rewind(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("cursor-of-second-pending-peek-next-stays", breaks="MQDMPR-3.1.7.1.14-25")
class CursorOfSecondPendingPeekNextStays(Cursors):
    """The cursor of a pending peek at the next message moves to the arriving message only at the first such wait."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        before = cursor.MessagePositionReference
        peeks = cursor.CursorState is CursorState.WAIT_PEEK and not isinstance(before, Boundary)
        if peeks and before.Previous is not None and not isinstance(before.Previous, Boundary):
            cursor.CursorState = CursorState.READ
        else:
            super().message_available(cursor, message_position)


@fault("message-of-pending-peek-next-does-not-complete-second-peek", breaks="MQDMPR-3.1.7.1.14-27")
class MessageOfPendingPeekNextDoesNotCompleteSecondPeek(Waiting):
    """An arriving message completes only one pending peek of each handle; the other peeks continue to wait."""

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            peeked = False
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number not in self.qm.readers or (peeked and not reader.DestructiveRead):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                peeked = peeked or not reader.DestructiveRead
                self.satisfy_reader(reader, found)


@fault("pending-peek-next-without-timeout-waits-one-minute", breaks="MQDMPR-3.1.7.1.14-07")
class PendingPeekNextWithoutTimeoutWaitsOneMinute(Reading):
    """A peek at the next message without a timeout ends after one minute."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        super().peek_next_message(queue_desc, answered, now, cursor, 60_000 if timeout_ms is None else timeout_ms, tag)
