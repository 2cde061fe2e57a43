"""Faults that break the rules MQDMPR-3.2.7.2-16 to MQDMPR-3.2.7.2-27."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors, _move_cursor
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    NOT_FOUND_STATUS,
    PEEK_METHOD,
    change_cursor_reads,
    get_first_available_message,
    get_last_available_message,
    get_start_position,
    has_unread_cursor_found_message,
    is_read_message_found_again,
    keep_cursor_position,
    make_change_of_found_message,
    make_change_to_cursor_status,
    make_cursor_state_setter,
)


@fault("peek-by-cursor-leaves-cursor-state-unread", breaks="MQDMPR-3.2.7.2-16")
class PeekByCursorLeavesCursorStateUnread(QueueCursors):
    """A peek by a cursor leaves the cursor's state UNREAD."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got: CursorResult = super().get_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-does-not-move-cursor", breaks="MQDMPR-3.2.7.2-17")
class CursorPeekDoesNotMoveCursor(QueueCursors):
    """A peek by a cursor leaves the cursor at the start of the queue."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        got: CursorResult = super().get_message_for_peek(cursor)
        _move_cursor(cursor, get_start_position(cursor))
        cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-returns-first-message", breaks=("MQDMPR-3.2.7.2-18", "MQDMPR-3.2.7.2-23"))
class CursorPeekReturnsFirstMessage(QueueCursors):
    """A peek by a cursor returns the first message of the queue, regardless of the cursor's position."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.SUCCEEDED:
            position = self.qm.message_search.seek_available(get_start_position(cursor), True)
        return status, position


@fault("cursor-first-peek-fails", breaks="MQDMPR-3.2.7.2-19")
class CursorFirstPeekFails(QueueCursors):
    """The first peek by a cursor moves the cursor to a message and fails."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        unread = cursor.CursorState is CursorState.UNREAD
        got: CursorResult = super().get_message_for_peek(cursor)
        return (CursorStatus.NOT_FOUND, None) if unread and got[0] is CursorStatus.SUCCEEDED else got


@fault("cursor-second-peek-returns-already-received", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class CursorSecondPeekReturnsAlreadyReceived(QueueCursors):
    """A cursor's second peek at the same message fails, as if the message had been received."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.CursorState is CursorState.READ:
            return CursorStatus.ALREADY_RECEIVED, None
        got: CursorResult = super().get_message_for_peek(cursor)
        return got


@fault("second-cursor-peek-at-message-of-priority-above-3-refused", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class SecondCursorPeekAtMessageOfPriorityAbove3Refused(QueueCursors):
    """A second peek by a cursor at a message with a priority other than 3 is refused."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        was_read = cursor.CursorState is CursorState.READ
        status, position = super().get_message_for_peek(cursor)
        if was_read and position is not None and position.MessageReference.Priority > 3:
            return CursorStatus.ALREADY_RECEIVED, None
        return status, position


@fault(
    "cursor-advances-when-its-message-is-removed",
    breaks=(
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.10-D03",
        "MQDMPR-3.2.7.2-27",
        "MQDMPR-3.1.7.2.1-04",
        "MQDMPR-3.1.7.1.15-15",
        "MQDMPR-3.1.7.1.15-16",
    ),
)
class CursorAdvancesWhenItsMessageIsRemoved(QueueCursors):
    """When the message of a cursor is removed, the cursor moves to the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


@fault(
    "queue-manager-cursor-peek-at-locked-message-succeeds",
    breaks=("MQDMPR-3.2.7.2-27", "MQDMPR-3.1.7.1.15-16"),
    blind=True,
)
class QueueManagerCursorPeekAtLockedMessageSucceeds(QueueCursors):
    """A peek by a cursor returns its message again while another reader's transaction has locked the message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        at = cursor.MessagePositionReference
        locked = isinstance(at, MessagePosition) and at.State is MessagePositionState.LOCKED
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition) and locked:
            return CursorStatus.SUCCEEDED, at
        return super().get_message_for_peek(cursor)


@fault("queue-manager-peek-by-cursor-finds-message-of-transaction", breaks="MQDMPR-3.2.7.2-27")
class QueueManagerPeekByCursorFindsMessageOfTransaction(QueueCursors):
    """A peek by a cursor returns the cursor's message although a transaction has received it."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        status, found_position = super().get_message_for_peek(cursor)
        position = cursor.MessagePositionReference
        if status is not CursorStatus.ALREADY_RECEIVED or not isinstance(position, MessagePosition):
            return status, found_position
        return (
            (CursorStatus.SUCCEEDED, position)
            if position.State is MessagePositionState.LOCKED
            else (status, found_position)
        )


@fault("queue-manager-cursor-of-moved-message-peeks-next", breaks="MQDMPR-3.2.7.2-27", blind=True)
class QueueManagerCursorOfMovedMessagePeeksNext(QueueCursors):
    """When the message of a cursor was moved to a subqueue, a peek by the cursor returns the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if cursor.CursorState is CursorState.READ and queue is not None and queue.SubqueueCollection:
            cursor.CursorState = CursorState.UNREAD
        return super().get_message_for_peek(cursor)


add(
    "successful-peek-by-cursor-keeps-state-later",
    "MQDMPR-3.2.7.2-16",
    "A peek by an unread cursor that finds a message sets the cursor's state to UNREAD if the queue has a cursor "
    "that was opened earlier.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_not_first_cursor_of_queue(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-by-cursor-keeps-state-last",
    "MQDMPR-3.2.7.2-16",
    "A peek by an unread cursor that finds a message sets the cursor's state to UNREAD if the last message of the "
    "queue is found.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_last_message_found(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-by-cursor-keeps-state-after-receive",
    "MQDMPR-3.2.7.2-16",
    "A peek by an unread cursor that finds a message sets the cursor's state to UNREAD if the cursor has received a "
    "message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-by-cursor-keeps-state-transactional",
    "MQDMPR-3.2.7.2-16",
    "A peek by an unread cursor that finds a message sets the cursor's state to UNREAD if the message is "
    "transactional.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_transactional_message_found(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "successful-peek-by-cursor-keeps-place-after-receive",
    "MQDMPR-3.2.7.2-17",
    "A peek by a cursor that finds a message does not move the cursor to that message if the cursor has received a "
    "message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        keep_cursor_position,
    ),
)


add(
    "successful-peek-by-cursor-keeps-place-passed-locked",
    "MQDMPR-3.2.7.2-17",
    "A peek by a cursor that finds a message does not move the cursor to that message if the read has skipped a "
    "locked message.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_skipped_locked_message(),
        keep_cursor_position,
    ),
)


add(
    "successful-peek-by-cursor-keeps-place-low-priority",
    "MQDMPR-3.2.7.2-17",
    "A peek by a cursor that finds a message does not move the cursor to that message if the message has a lower "
    "priority than the first message of the queue.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_lower_priority_found(),
        keep_cursor_position,
    ),
)


add(
    "peek-by-cursor-returns-first-message-low-priority",
    "MQDMPR-3.2.7.2-18",
    "A peek by an unread cursor returns the first message of the queue instead of a message with a lower priority.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_lower_priority_found(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-by-cursor-returns-first-message-later",
    "MQDMPR-3.2.7.2-18",
    "A peek by an unread cursor returns the first message of the queue if the queue has a cursor that was opened "
    "earlier.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-by-cursor-returns-last-of-several-messages",
    "MQDMPR-3.2.7.2-18",
    "A peek by an unread cursor returns the last message of the queue if the cursor has received a message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        make_change_of_found_message(get_last_available_message),
    ),
)


add(
    "successful-peek-by-cursor-fails-last",
    "MQDMPR-3.2.7.2-19",
    "A peek by an unread cursor that finds a message fails if the last message of the queue is found.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_last_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-by-cursor-fails-after-receive",
    "MQDMPR-3.2.7.2-19",
    "A peek by an unread cursor that finds a message fails if the cursor has received a message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-by-cursor-fails-transactional",
    "MQDMPR-3.2.7.2-19",
    "A peek by an unread cursor that finds a message fails if the message is transactional.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_transactional_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-peek-by-cursor-fails-large",
    "MQDMPR-3.2.7.2-19",
    "A peek by an unread cursor that finds a message fails if the message has a large body.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_large_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "repeated-peek-by-cursor-fails-third",
    "MQDMPR-3.2.7.2-24",
    "A further peek by a cursor at an available message fails if the cursor has read twice before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: is_read_message_found_again(step) and step.count_reads_of_cursor() > 2,
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "repeated-peek-by-cursor-fails-large",
    "MQDMPR-3.2.7.2-24",
    "A further peek by a cursor at an available message fails if the message has a large body.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_large_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "repeated-peek-by-cursor-fails-transactional",
    "MQDMPR-3.2.7.2-24",
    "A further peek by a cursor at an available message fails if the message is transactional.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_transactional_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "repeated-peek-by-cursor-fails-last",
    "MQDMPR-3.2.7.2-24",
    "A further peek by a cursor at an available message fails if the last message of the queue is found.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_last_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "peek-of-express-message-by-cursor-keeps-state",
    "MQDMPR-3.2.7.2-16",
    "A peek by an unread cursor that finds an express message sets the cursor's state to UNREAD.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_express_message_found(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "peek-by-cursor-of-peeking-handle-keeps-place",
    "MQDMPR-3.2.7.2-17",
    "A peek by a cursor of a handle that was opened to peek moves the cursor only to the locked message before "
    "the found message.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: (
            has_unread_cursor_found_message(step)
            and step.is_handle_opened_to_peek()
            and step.has_skipped_locked_message()
        ),
        keep_cursor_position,
    ),
)


add(
    "peek-of-express-message-by-unread-cursor-fails",
    "MQDMPR-3.2.7.2-19",
    "A peek by an unread cursor that finds an express message fails.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_express_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "repeated-peek-of-express-message-by-cursor-fails",
    "MQDMPR-3.2.7.2-24",
    "A further peek by a cursor at an available express message fails.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_express_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)
