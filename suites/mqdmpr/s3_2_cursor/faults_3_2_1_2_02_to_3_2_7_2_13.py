"""Faults that break the rules MQDMPR-3.1.7.1.10-31 to MQDMPR-3.2.7.2-13."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.queue_cursors import (
    CursorResult,
    QueueCursors,
    _get_positions_of_cursor_queue,
    _move_cursor,
)
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    NOT_FOUND_STATUS,
    PEEK_METHOD,
    WAITING_STATUS,
    change_cursor_reads,
    get_first_available_message,
    get_first_message_of_other_queue,
    get_message_positions_of_queue,
    has_read_found_no_message,
    has_unread_cursor_found_message,
    keep_cursor_state,
    make_change_of_found_message,
    make_change_to_cursor_status,
)


@fault("cursor-handles-numbered-per-queue", breaks=("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05"))
class CursorHandlesNumberedPerQueue(QueueCursors):
    """The queue manager numbers the cursors of each open queue from 1, so cursors of different queues have the same
    Handle.
    """

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = len(queue_desc.CursorCollection) + 1
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("first-cursors-of-all-open-queues-have-same-handle", breaks=("MQDMPR-3.2.7.1-05", "MQDMPR-3.2.1.2-02"))
class FirstCursorsOfAllOpenQueuesHaveSameHandle(QueueCursors):
    """The first cursor of each open queue has the same Handle as the first cursor of every other open queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and len(queue_desc.CursorCollection) == 1:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = 0x7FFF
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault("queue-manager-cursor-handle-unique-in-its-queue-only", breaks="MQDMPR-3.2.7.1-05")
class QueueManagerCursorHandleUniqueInItsQueueOnly(QueueCursors):
    """The Handle of a new cursor is unique only among the cursors of its OpenQueueDescriptor."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None:
            del queue_desc.CursorCollection[cursor.Handle]
            cursor.Handle = 1 + max(queue_desc.CursorCollection, default=0)
            queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor


@fault(
    "cursor-reads-first-opened-queue",
    breaks=("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03", "MQDMPR-3.2.7.3-03", "MQDMPR-3.2.7.4-04"),
)
class CursorReadsFirstOpenedQueue(QueueCursors):
    """All cursors read the queue that was opened first."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        first = next(iter(self.qm.descriptors.values())).QueueReference
        if cursor is not None and first is not None:
            cursor.MessagePositionReference = first.MessagePositionList.Start
        return cursor


@fault("new-cursor-starts-after-last-message", breaks="MQDMPR-3.2.7.1-07")
class NewCursorStartsAfterLastMessage(QueueCursors):
    """A new cursor is positioned after the last message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None:
            _move_cursor(cursor, queue_desc.QueueReference.MessagePositionList.End)
        return cursor


@fault("queue-manager-new-cursor-placed-behind-locked-messages", breaks="MQDMPR-3.2.7.1-07")
class QueueManagerNewCursorPlacedBehindLockedMessages(QueueCursors):
    """A new cursor is positioned after the locked messages at the start of the queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None:
            for one in queue_desc.QueueReference.MessagePositionList:
                if one.State is not MessagePositionState.LOCKED:
                    break
                queue_desc.QueueReference.MessagePositionList.hold(one)
                queue_desc.QueueReference.MessagePositionList.release(cursor.MessagePositionReference)
                cursor.MessagePositionReference = one
        return cursor


@fault("queue-manager-new-cursor-placed-like-earlier-cursor-of-handle", breaks="MQDMPR-3.2.7.1-07", blind=True)
class QueueManagerNewCursorPlacedLikeEarlierCursorOfHandle(QueueCursors):
    """A new cursor starts at the position of the cursor that was opened before with the same handle."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        earlier = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if earlier and cursor is not None:
            self.on_message_available(cursor, earlier[-1].MessagePositionReference)  # type: ignore[arg-type]
        return cursor


@fault("new-cursor-has-state-wait-peek", breaks="MQDMPR-3.2.7.1-08")
class NewCursorHasStateWaitPeek(QueueCursors):
    """A new cursor has the state of a cursor with a pending peek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


@fault("unread-cursor-peeks-last-message", breaks=("MQDMPR-3.2.7.2-06", "MQDMPR-3.2.7.2-18"))
class UnreadCursorPeeksLastMessage(QueueCursors):
    """A peek by a cursor in the state UNREAD returns the last message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        positions = _get_positions_of_cursor_queue(cursor)
        if cursor.CursorState is CursorState.UNREAD and positions is not None:
            last = self.qm.message_search.seek_available(positions.End, True, SeekDirection.BACKWARD)
            if last is not None:
                _move_cursor(cursor, last)
                cursor.CursorState = CursorState.READ
                return CursorStatus.SUCCEEDED, last
        got: CursorResult = super().get_message_for_peek(cursor)
        return got


@fault("queue-manager-cursor-peek-after-receive-starts-at-queue-start", breaks="MQDMPR-3.2.7.2-06", blind=True)
class QueueManagerCursorPeekAfterReceiveStartsAtQueueStart(QueueCursors):
    """A peek by a cursor that has received a message searches from the start of the queue, not from the cursor."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        if cursor.CursorState is CursorState.UNREAD:
            self.move_cursor_to_start(cursor)
        return super().get_message_for_peek(cursor)


@fault("pending-peek-does-not-change-cursor-state", breaks=("MQDMPR-3.2.7.2-12", "MQDMPR-3.2.7.3-15"))
class PendingPeekDoesNotChangeCursorState(QueueCursors):
    """A pending peek by a cursor does not change the cursor's state."""

    def _seek_for_peek(self, cursor: Cursor) -> CursorResult:
        before = cursor.CursorState
        got: CursorResult = super()._seek_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            cursor.CursorState = before
        return got


@fault("peek-by-cursor-ignores-timeout-and-fails-at-once", breaks=("MQDMPR-3.2.7.2-13", "MQDMPR-3.2.7.3-16"))
class PeekByCursorIgnoresTimeoutAndFailsAtOnce(QueueCursors):
    """A peek by a cursor that finds no message fails, regardless of its timeout."""

    def _seek_for_peek(self, cursor: Cursor) -> CursorResult:
        status, position = super()._seek_for_peek(cursor)
        return (CursorStatus.NOT_FOUND if status is CursorStatus.WAITING else status), position


@fault(
    "cursor-not-moved-by-arriving-message",
    breaks=(
        *("MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-36"),
        *("MQDMPR-3.1.7.1.10-31", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.15-27"),
        "MQDMPR-3.2.7.5-07",
    ),
)
class CursorNotMovedByArrivingMessage(QueueCursors):
    """A message that completes a pending read by a cursor does not move the cursor."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        cursor.CursorState = CursorState.UNREAD
        _move_cursor(cursor, get_message_positions_of_queue(cursor).End)


@fault(
    "cursor-stays-waiting-after-timeout",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.2.7.6-05"),
)
class CursorStaysWaitingAfterTimeout(QueueCursors):
    """A cursor remains in its waiting state after its pending read has timed out."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        pass


add(
    "peek-by-cursor-of-empty-queue-searches-other-queue",
    "MQDMPR-3.2.7.2-03",
    "A peek by a cursor whose queue has no message returns a message of another open queue.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "peek-by-later-cursor-searches-other-queue",
    "MQDMPR-3.2.7.2-03",
    "A peek by a cursor returns a message of another open queue if its own queue has a cursor that was opened earlier.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "peek-after-receive-by-cursor-searches-other-queue",
    "MQDMPR-3.2.7.2-03",
    "A peek by a cursor that has received a message returns a message of another open queue.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: step.has_received_message_at_position(),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "peek-after-receive-by-cursor-searches-from-start",
    "MQDMPR-3.2.7.2-06",
    "A peek by a cursor that has received a message searches the queue from its start.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: step.has_received_message_at_position() and step.found_position is not None,
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "peek-by-unread-cursor-tries-only-next-position",
    "MQDMPR-3.2.7.2-06",
    "A peek by an unread cursor finds no message if the next message is locked.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_skipped_locked_message(),
        make_change_to_cursor_status(WAITING_STATUS),
    ),
)


add(
    "vain-peek-by-cursor-keeps-state-locked",
    "MQDMPR-3.2.7.2-12",
    "A peek by a cursor that finds no message leaves the cursor's state unchanged if a message of the queue is locked.",
    change_cursor_reads(
        PEEK_METHOD, lambda step: has_read_found_no_message(step) and step.is_any_message_locked(), keep_cursor_state
    ),
)


add(
    "vain-peek-by-cursor-keeps-state-after-receive",
    "MQDMPR-3.2.7.2-12",
    "A peek by a cursor that finds no message leaves the cursor's state unchanged if the cursor has received a "
    "message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.has_received_message_at_position(),
        keep_cursor_state,
    ),
)


add(
    "vain-peek-by-cursor-keeps-state-later",
    "MQDMPR-3.2.7.2-12",
    "A peek by a cursor that finds no message leaves the cursor's state unchanged if the queue has a cursor that was "
    "opened earlier.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_not_first_cursor_of_queue(),
        keep_cursor_state,
    ),
)


add(
    "vain-peek-by-cursor-does-not-wait-locked",
    "MQDMPR-3.2.7.2-13",
    "A peek by a cursor that finds no message fails at once if a message of the queue is locked.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_any_message_locked(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-by-cursor-does-not-wait-after-receive",
    "MQDMPR-3.2.7.2-13",
    "A peek by a cursor that finds no message fails at once if the cursor has received a message before.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.has_received_message_at_position(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-by-cursor-does-not-wait-later",
    "MQDMPR-3.2.7.2-13",
    "A peek by a cursor that finds no message fails at once if the queue has a cursor that was opened earlier.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_not_first_cursor_of_queue(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "vain-peek-by-cursor-of-peeking-handle-keeps-state",
    "MQDMPR-3.2.7.2-12",
    "A peek by a cursor of a handle that was opened to peek leaves the cursor's state unchanged if it finds no "
    "message.",
    change_cursor_reads(
        PEEK_METHOD, lambda step: has_read_found_no_message(step) and step.is_handle_opened_to_peek(), keep_cursor_state
    ),
)


add(
    "vain-peek-by-cursor-of-peeking-handle-fails",
    "MQDMPR-3.2.7.2-13",
    "A peek by a cursor of a handle that was opened to peek fails at once if it finds no message.",
    change_cursor_reads(
        PEEK_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_handle_opened_to_peek(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)
