"""Faults that break the rules MQDMPR-3.2.7.3-03 to MQDMPR-3.2.7.3-22."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors, _move_cursor
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    NOT_FOUND_STATUS,
    PEEK_NEXT_METHOD,
    WAITING_STATUS,
    change_cursor_reads,
    get_first_available_message,
    get_first_message_of_other_queue,
    get_message_positions_of_queue,
    has_read_found_no_message,
    keep_cursor_position,
    make_change_of_found_message,
    make_change_to_cursor_status,
    make_cursor_state_setter,
)


@fault(
    "unread-cursor-accepts-peek-next",
    breaks=(
        "MQQP-3.1.4.1-D17",
        "MQQP-3.1.4.10-40",
        "MQDMPR-3.2.7.3-06",
        "MQDMPR-3.2.7.1-08",
        "MQDMPR-3.1.7.1.14-13",
        "MQDMPR-3.1.7.1.14-14",
    ),
)
class UnreadCursorAcceptsPeekNext(QueueCursors):
    """A peek at the next message by a cursor in the state UNREAD returns the first message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        return self._seek_for_peek(cursor)


@fault(
    "cursor-returns-to-start-when-its-message-is-removed",
    breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.2.7.3-09"),
)
class CursorReturnsToStartWhenItsMessageIsRemoved(QueueCursors):
    """When the message of a cursor is removed, the cursor returns to the front of the queue."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.CursorState is CursorState.READ:
            status, _ = self.get_message_for_peek(cursor)
            if status is CursorStatus.ALREADY_RECEIVED:
                _move_cursor(cursor, get_message_positions_of_queue(cursor).Start)
        return super().get_next_message_for_peek(cursor)


@fault("queue-manager-peek-next-at-received-message-skips-next-message", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerPeekNextAtReceivedMessageSkipsNextMessage(QueueCursors):
    """When another reader has received the message of a cursor, a peek at the next message by this cursor skips a
    message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        removed = not isinstance(at, Boundary) and at.State is MessagePositionState.DELETED
        got = super().get_next_message_for_peek(cursor)
        if removed and got[0] is CursorStatus.SUCCEEDED:
            following = super().get_next_message_for_peek(cursor)
            return following if following[0] is CursorStatus.SUCCEEDED else got
        return got


@fault("queue-manager-peek-next-returns-later-message-of-higher-priority", breaks="MQDMPR-3.2.7.3-09")
class QueueManagerPeekNextReturnsLaterMessageOfHigherPriority(QueueCursors):
    """A peek at the next message returns a message of higher priority that arrived after the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and not isinstance(at, Boundary):
            for one in at.QueueReference.MessagePositionList:
                if one.order > at.order and one.State is MessagePositionState.AVAILABLE:
                    at.QueueReference.MessagePositionList.hold(one)
                    at.QueueReference.MessagePositionList.release(at)
                    cursor.MessagePositionReference = one
                    return CursorStatus.SUCCEEDED, one
        return super().get_next_message_for_peek(cursor)


@fault("cursor-peek-next-finds-only-messages-of-equal-priority", breaks="MQDMPR-3.2.7.3-09")
class CursorPeekNextFindsOnlyMessagesOfEqualPriority(QueueCursors):
    """A peek at the next message finds only messages of the priority of the current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before, state = cursor.MessagePositionReference, cursor.CursorState
        got = super().get_next_message_for_peek(cursor)
        current = getattr(before, "MessageReference", None)
        if got[1] is not None and current is not None and got[1].MessageReference.Priority != current.Priority:
            cursor.MessagePositionReference, cursor.CursorState = before, state
            return CursorStatus.WAITING, None
        return got


@fault("queue-manager-peek-next-without-message-moves-cursor-to-start", breaks="MQDMPR-3.2.7.3-15")
class QueueManagerPeekNextWithoutMessageMovesCursorToStart(QueueCursors):
    """A peek at the next message that finds no message moves the cursor to the start of the queue while the
    peek waits.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            self.move_cursor_to_start(cursor)
        return got


@fault("cursor-state-stays-read-after-empty-peek-next-with-timeout-0", breaks="MQDMPR-3.2.7.3-15", blind=True)
class CursorStateStaysReadAfterEmptyPeekNextWithTimeout0(MessageReading):
    """When a peek at the next message with timeout 0 finds no message, CursorState stays Read."""

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        before = cursor.CursorState
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)
        if timeout_ms == 0 and before is CursorState.READ and cursor.CursorState is CursorState.WAIT_PEEK:
            cursor.CursorState = before


@fault("peek-next-sets-cursor-state-to-unread", breaks="MQDMPR-3.2.7.3-19")
class PeekNextSetsCursorStateToUnread(QueueCursors):
    """A peek at the next message sets the cursor's state to UNREAD."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got: CursorResult = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-next-does-not-move-cursor", breaks="MQDMPR-3.2.7.3-20")
class CursorPeekNextDoesNotMoveCursor(QueueCursors):
    """A peek at the next message leaves the cursor at the current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before = cursor.MessagePositionReference
        got: CursorResult = super().get_next_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            _move_cursor(cursor, before)
        return got


@fault("queue-manager-peek-next-moves-all-cursors-of-handle", breaks="MQDMPR-3.2.7.3-20", blind=True)
class QueueManagerPeekNextMovesAllCursorsOfHandle(QueueCursors):
    """A peek at the next message moves all cursors of its handle."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super().get_next_message_for_peek(cursor)
        if position is not None:
            for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
                if other is not cursor and other.CursorState is CursorState.READ:
                    self.on_message_available(other, position)
        return status, position


@fault("cursor-peek-next-returns-previous", breaks="MQDMPR-3.2.7.3-21")
class CursorPeekNextReturnsPrevious(QueueCursors):
    """A peek at the next message moves the cursor to that message, but returns the previous current message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before = cursor.MessagePositionReference
        got: CursorResult = super().get_next_message_for_peek(cursor)
        if got[0] is not CursorStatus.SUCCEEDED or isinstance(before, Boundary):
            return got
        return CursorStatus.SUCCEEDED, before


@fault("cursor-peek-next-fails-after-move", breaks="MQDMPR-3.2.7.3-22")
class CursorPeekNextFailsAfterMove(QueueCursors):
    """A peek at the next message moves the cursor to that message and fails."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got: CursorResult = super().get_next_message_for_peek(cursor)
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.SUCCEEDED else got


add(
    "peek-next-at-end-continues-in-other-queue",
    "MQDMPR-3.2.7.3-03",
    "A peek at the next message by a cursor at the last message of its queue returns a message of another open queue.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: has_read_found_no_message(step),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "peek-next-by-later-cursor-searches-other-queue",
    "MQDMPR-3.2.7.3-03",
    "A peek at the next message returns a message of another open queue if its own queue has a cursor that was "
    "opened earlier.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "second-peek-next-searches-other-queue",
    "MQDMPR-3.2.7.3-03",
    "A second peek at the next message by a cursor returns a message of another open queue.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.count_reads_of_cursor() > 1,
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "peek-next-after-receive-returns-next-message",
    "MQDMPR-3.2.7.3-06",
    "A peek at the next message by a cursor that has received a message returns the message after that message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.has_received_message_at_position(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-next-by-new-cursor-of-empty-queue-waits",
    "MQDMPR-3.2.7.3-06",
    "A peek at the next message by an unread cursor waits if the queue has no message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.state is CursorState.UNREAD and not step.messages,
        make_change_to_cursor_status(WAITING_STATUS),
    ),
)


add(
    "peek-next-by-later-unread-cursor-returns-message",
    "MQDMPR-3.2.7.3-06",
    "A peek at the next message by an unread cursor returns the first message if the queue has a cursor that was "
    "opened earlier.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.state is CursorState.UNREAD and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "successful-peek-next-clears-state-last",
    "MQDMPR-3.2.7.3-19",
    "A peek that finds the next message sets the cursor's state to UNREAD if the last message of the queue is found.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_last_message_found(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-next-clears-state-after-loss",
    "MQDMPR-3.2.7.3-19",
    "A peek that finds the next message sets the cursor's state to UNREAD if another reader has received the "
    "cursor's message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_message_received_by_other_reader(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-next-clears-state-second-step",
    "MQDMPR-3.2.7.3-19",
    "A peek that finds the next message sets the cursor's state to UNREAD if the cursor has moved to a next message "
    "before.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.count_reads_of_cursor() > 1,
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-next-clears-state-later",
    "MQDMPR-3.2.7.3-19",
    "A peek that finds the next message sets the cursor's state to UNREAD if the queue has a cursor that was opened "
    "earlier.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_not_first_cursor_of_queue(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "peek-next-returns-first-message-low-priority",
    "MQDMPR-3.2.7.3-21",
    "A peek at the next message returns the first message of the queue if the next message has a lower priority "
    "than the first.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_lower_priority_found(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-next-returns-first-message-after-loss",
    "MQDMPR-3.2.7.3-21",
    "A peek that finds the next message returns the first message of the queue if another reader has received the "
    "cursor's message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_message_received_by_other_reader(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-next-returns-first-message-passed-locked",
    "MQDMPR-3.2.7.3-21",
    "A peek that finds the next message returns the first message of the queue if the read has skipped a locked "
    "message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.has_skipped_locked_message(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "successful-peek-next-fails-last",
    "MQDMPR-3.2.7.3-22",
    "A peek that finds the next message fails if the last message of the queue is found.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_last_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-next-fails-after-loss",
    "MQDMPR-3.2.7.3-22",
    "A peek that finds the next message fails if another reader has received the cursor's message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_message_received_by_other_reader(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-next-fails-large",
    "MQDMPR-3.2.7.3-22",
    "A peek that finds the next message fails if the message has a large body.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_large_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-next-fails-transactional",
    "MQDMPR-3.2.7.3-22",
    "A peek that finds the next message fails if the message is transactional.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_transactional_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-next-does-not-wait-locked",
    "MQDMPR-3.2.7.3-16",
    "A peek at the next message that finds no message fails at once if a message of the queue is locked.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_any_message_locked(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-next-does-not-wait-after-loss",
    "MQDMPR-3.2.7.3-16",
    "A peek at the next message that finds no message fails at once if another reader has received the cursor's "
    "message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_message_received_by_other_reader(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-next-does-not-wait-later",
    "MQDMPR-3.2.7.3-16",
    "A peek at the next message that finds no message fails at once if the queue has a cursor that was opened earlier.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_not_first_cursor_of_queue(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-next-keeps-place-after-loss",
    "MQDMPR-3.2.7.3-20",
    "A peek that finds the next message does not move the cursor if another reader has received the cursor's message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_message_received_by_other_reader(),
        keep_cursor_position,
    ),
)


add(
    "successful-peek-next-keeps-place-last",
    "MQDMPR-3.2.7.3-20",
    "A peek that finds the next message does not move the cursor if the last message of the queue is found.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_last_message_found(),
        keep_cursor_position,
    ),
)


add(
    "successful-peek-next-keeps-place-low-priority",
    "MQDMPR-3.2.7.3-20",
    "A peek that finds the next message does not move the cursor if the message has a lower priority than the first "
    "message of the queue.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.is_lower_priority_found(),
        keep_cursor_position,
    ),
)


add(
    "successful-peek-next-keeps-place-passed-locked",
    "MQDMPR-3.2.7.3-20",
    "A peek that finds the next message does not move the cursor if the read has skipped a locked message.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.has_skipped_locked_message(),
        keep_cursor_position,
    ),
)


add(
    "peek-next-at-express-message-fails",
    "MQDMPR-3.2.7.3-22",
    "A peek that finds an express message as the next message fails.",
    change_cursor_reads(
        PEEK_NEXT_METHOD, lambda step: step.is_express_message_found(), make_change_to_cursor_status(NOT_FOUND_STATUS)
    ),
)


add(
    "third-peek-next-keeps-place",
    "MQDMPR-3.2.7.3-20",
    "The third peek at the next message by a cursor does not move the cursor.",
    change_cursor_reads(
        PEEK_NEXT_METHOD,
        lambda step: step.found_position is not None and step.count_reads_of_cursor() > 2,
        keep_cursor_position,
    ),
)


add(
    "peek-next-at-express-message-clears-state",
    "MQDMPR-3.2.7.3-19",
    "A peek that finds an express message as the next message sets the cursor's state to UNREAD.",
    change_cursor_reads(
        PEEK_NEXT_METHOD, lambda step: step.is_express_message_found(), make_cursor_state_setter(CursorState.UNREAD)
    ),
)
