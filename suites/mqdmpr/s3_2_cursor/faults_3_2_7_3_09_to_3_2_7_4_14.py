"""Faults that break the rules MQDMPR-3.2.7.3-09 to MQDMPR-3.2.7.4-14."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from harness.faults.calls import with_arguments
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.queueing.cursors import Cursors, Got, _move_cursor
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    Dequeue,
    Receives,
    get_message_list,
    get_start_position,
    list_messages_of_cursor,
)


@fault(
    "cursor-restarts-when-message-removed",
    breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.2.7.3-09"),
)
class CursorRestartsWhenMessageRemoved(Cursors):
    """When the message of a cursor is removed, the cursor returns to the front of the queue."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            status, _ = self.get_message_for_peek(cursor)
            if status is CursorStatus.ALREADY_RECEIVED:
                _move_cursor(cursor, get_message_list(cursor).Start)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-cursor-skips-message-after-removal-before-it", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerCursorSkipsMessageAfterRemovalBeforeIt(Cursors):
    """When another reader has received the message of a cursor, a peek at the next message by this cursor skips a
    message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        removed = not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED
        got = super().get_next_message_for_peek(cursor)
        if removed and got[0] is CursorStatus.SUCCEEDED:
            following = super().get_next_message_for_peek(cursor)
            return following if following[0] is CursorStatus.SUCCEEDED else got
        return got


@fault("queue-manager-next-peek-of-cursor-includes-priority-before-it", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerNextPeekOfCursorIncludesPriorityBeforeIt(Cursors):
    """A peek at the next message returns a message of higher priority that arrived after the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and not isinstance(at, Boundary):
            for one in at.QueueReference.MessagePositionList:
                if one.order > at.order and one.State is MessagePositionState.AVAILABLE:
                    at.QueueReference.MessagePositionList.hold(one)
                    at.QueueReference.MessagePositionList.release(at)
                    cursor.MessagePositionReference = one
                    return CursorStatus.SUCCEEDED, one
        return super().get_next_message_for_peek(cursor)


@fault("cursor-peek-next-skips-message-of-higher-priority-behind", breaks="MQDMPR-3.2.7.3-09")
class CursorPeekNextSkipsMessageOfHigherPriorityBehind(Cursors):
    """A peek at the next message finds only messages of the priority of the current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before, state = cursor.MessagePositionReference, cursor.CursorState
        got = super().get_next_message_for_peek(cursor)
        current = getattr(before, "MessageReference", None)
        if got[1] is not None and current is not None and got[1].MessageReference.Priority != current.Priority:
            cursor.MessagePositionReference, cursor.CursorState = before, state
            return CursorStatus.WAITING, None
        return got


@fault("queue-manager-peek-next-without-message-moves-cursor-to-start", breaks="MQDMPR-3.2.7.3-15")
class QueueManagerPeekNextWithoutMessageMovesCursorToStart(Cursors):
    """A peek at the next message that finds no message moves the cursor to the start of the queue while the
    peek waits.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        got = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            self.rewind(cursor)
        return got


@fault("cursor-peek-next-without-wait-stays-read", breaks="MQDMPR-3.2.7.3-15", blind=True)
class CursorPeekNextWithoutWaitStaysRead(Reading):
    """When a peek at the next message with timeout 0 finds no message, CursorState stays Read."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        before = cursor.CursorState
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)
        if timeout_ms == 0 and before is CursorState.READ and cursor.CursorState is CursorState.WAIT_PEEK:
            cursor.CursorState = before


@fault("cursor-peek-next-leaves-unread", breaks="MQDMPR-3.2.7.3-19")
class CursorPeekNextLeavesUnread(Cursors):
    """A peek at the next message sets the cursor's state to UNREAD."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-next-does-not-move-cursor", breaks="MQDMPR-3.2.7.3-20")
class CursorPeekNextDoesNotMoveCursor(Cursors):
    """A peek at the next message leaves the cursor at the current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.MessagePositionReference
        got: Got = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            _move_cursor(cursor, before)
        return got


@fault("queue-manager-cursors-of-handle-move-together", breaks="MQDMPR-3.2.7.3-20", blind=True)
class QueueManagerCursorsOfHandleMoveTogether(Cursors):
    """A peek at the next message moves all cursors of its handle."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_next_message_for_peek(cursor)
        if position is not None:
            for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
                if other is not cursor and other.CursorState is CursorState.READ:
                    self.message_available(other, position)
        return status, position


@fault("cursor-peek-next-returns-previous", breaks="MQDMPR-3.2.7.3-21")
class CursorPeekNextReturnsPrevious(Cursors):
    """A peek at the next message moves the cursor to that message, but returns the previous current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.MessagePositionReference
        got: Got = super().get_next_message_for_peek(cursor)
        if got[0] is not CursorStatus.SUCCEEDED or isinstance(before, Boundary):
            return got
        return CursorStatus.SUCCEEDED, before


@fault("cursor-peek-next-fails-after-move", breaks="MQDMPR-3.2.7.3-22")
class CursorPeekNextFailsAfterMove(Cursors):
    """A peek at the next message moves the cursor to that message and fails."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_next_message_for_peek(cursor)
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.SUCCEEDED else got


@fault("cursor-receive-with-timeout-0-times-out", breaks="MQDMPR-3.2.7.4-14")
class CursorReceiveWithTimeout0TimesOut(Cursors):
    """A receive by a cursor with timeout zero that finds no message returns MQ_ERROR_IO_TIMEOUT."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got: Got = super().get_next_message_for_dequeue(cursor, False)
        return got


_WAITS_FOR_EVER = with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None)
"""Replace the timeout 0 of a read with an infinite timeout."""


add(
    "cursor-receive-with-timeout-0-waits",
    "MQDMPR-3.2.7.4-02",
    "A receive by a cursor with timeout zero waits without limit.",
    both(_WAITS_FOR_EVER, replace_part(CursorReceiveWithTimeout0TimesOut)),
)


@fault("unread-cursor-receives-first-message", breaks=("MQDMPR-3.2.7.4-07", "MQDMPR-3.2.7.4-21"))
class UnreadCursorReceivesFirstMessage(Receives):
    """A receive by a cursor in the state UNREAD returns the first message of the queue."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        first = self.qm.seeking.seek_available(get_start_position(cursor), False)
        return got if first is None else (CursorStatus.SUCCEEDED, first)


@fault("queue-manager-cursor-rewound-by-receive", breaks="MQDMPR-3.2.7.4-07", blind=True)
class QueueManagerCursorRewoundByReceive(Cursors):
    """When a cursor receives its current message, the cursor returns to the start of the queue, so the next receive by
    the cursor finds an earlier message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        was_read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if was_read and got[1] is not None:
            self.rewind(cursor)
        return got


@fault("cursor-second-receive-starts-at-front", breaks="MQDMPR-3.2.7.4-07")
class CursorSecondReceiveStartsAtFront(Cursors):
    """After a receive by a cursor, the next receive by the cursor searches from the start of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[1] is not None:
            self.rewind(cursor)
        return got


@fault("receiver-receive-by-unread-cursor-takes-last-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverReceiveByUnreadCursorTakesLastMessage(Dequeue):
    """A receive by a cursor in the state UNREAD takes the last message, if at least three messages follow."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        positions = list_messages_of_cursor(cursor)
        if got[1] is None or len(positions) < 3 or got[1] is not positions[0]:
            return got
        return got[0], positions[-1]


@fault("receiver-second-receive-by-cursor-takes-first-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverSecondReceiveByCursorTakesFirstMessage(Cursors):
    """The second receive by a cursor in the state UNREAD searches from the start of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[Cursor] = set()

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        if cursor in self.used and cursor.CursorState is CursorState.UNREAD:
            self.rewind(cursor)
        self.used.add(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-cursor-failed-receive-moves-cursor-to-end", breaks="MQDMPR-3.2.7.4-14", blind=True)
class QueueManagerCursorFailedReceiveMovesCursorToEnd(Cursors):
    """When a receive by a cursor with timeout zero finds no available message, the cursor moves past all messages, even
    past locked messages.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.NOT_FOUND:
            cursor.CursorState = CursorState.WAIT_RECEIVE
            self.wait_expired(cursor)
        return got


@fault("receiver-receive-by-cursor-at-end-not-found-status-io-timeout", breaks="MQDMPR-3.2.7.4-14")
class ReceiverReceiveByCursorAtEndNotFoundStatusIoTimeout(Reading):
    """A receive by a cursor behind the last message, with timeout zero, fails with MQ_ERROR_IO_TIMEOUT, if the queue
    contains a message before the cursor.
    """

    def _answer_or_wait(self, queue_desc: OpenQueueDescriptor, got: Got, *rest: Any) -> None:
        queue = queue_desc.QueueReference
        if got[0] is CursorStatus.NOT_FOUND and queue is not None and len(list(queue.MessagePositionList)):
            rest[2](Status.MQ_ERROR_IO_TIMEOUT, None)
        else:
            super()._answer_or_wait(queue_desc, got, *rest)


@fault("cursor-unread-receive-begins-at-start-of-queue", breaks="MQDMPR-3.2.7.4-07", blind=True)
class CursorUnreadReceiveBeginsAtStartOfQueue(Cursors):
    """After a receive by a cursor, the next receive by this cursor begins at the start of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        if cursor.CursorState is CursorState.UNREAD and not isinstance(cursor.MessagePositionReference, Boundary):
            self.rewind(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)
