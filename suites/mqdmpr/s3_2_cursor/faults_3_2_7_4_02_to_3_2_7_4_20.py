"""Faults that break the rules MQDMPR-3.2.7.4-02 to MQDMPR-3.2.7.4-20."""

from __future__ import annotations

from typing import Any

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors, _move_cursor
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.statuses import CursorStatus, Status
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    RECEIVE_METHOD,
    CursorReceiveChanger,
    UnreadCursorReceiveChanger,
    change_cursor_reads,
    get_first_message_of_other_queue,
    get_start_position,
    has_read_found_no_message,
    has_unread_cursor_found_message,
    is_cursor_not_at_read_message,
    keep_cursor_position,
    keep_cursor_state,
    list_messages_of_cursor,
    make_change_of_found_message,
)


@fault("cursor-receive-with-timeout-0-times-out", breaks="MQDMPR-3.2.7.4-14")
class CursorReceiveWithTimeout0TimesOut(QueueCursors):
    """A receive by a cursor with timeout zero that finds no message returns MQ_ERROR_IO_TIMEOUT."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got: CursorResult = super().get_next_message_for_dequeue(cursor, False)
        return got


_ZERO_READ_TIMEOUT_TO_INFINITE_CHANGE = change_step_arguments(
    WaitingReads.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None
)
"""Replace the timeout 0 of a read with an infinite timeout."""


add(
    "cursor-receive-with-timeout-0-waits",
    "MQDMPR-3.2.7.4-02",
    "A receive by a cursor with timeout zero waits without limit.",
    combine_installers(_ZERO_READ_TIMEOUT_TO_INFINITE_CHANGE, replace_part(CursorReceiveWithTimeout0TimesOut)),
)


@fault("unread-cursor-receives-first-message", breaks=("MQDMPR-3.2.7.4-07", "MQDMPR-3.2.7.4-21"))
class UnreadCursorReceivesFirstMessage(CursorReceiveChanger):
    """A receive by a cursor in the state UNREAD returns the first message of the queue."""

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        first = self.qm.message_search.seek_available(get_start_position(cursor), False)
        return got if first is None else (CursorStatus.SUCCEEDED, first)


@fault("queue-manager-cursor-returns-to-start-of-queue-after-receive", breaks="MQDMPR-3.2.7.4-07", blind=True)
class QueueManagerCursorReturnsToStartOfQueueAfterReceive(QueueCursors):
    """When a cursor receives its current message, the cursor returns to the start of the queue, so the next receive by
    the cursor finds an earlier message.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        was_read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if was_read and got[1] is not None:
            self.move_cursor_to_start(cursor)
        return got


@fault("cursor-second-receive-starts-at-front", breaks="MQDMPR-3.2.7.4-07")
class CursorSecondReceiveStartsAtFront(QueueCursors):
    """After a receive by a cursor, the next receive by the cursor searches from the start of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[1] is not None:
            self.move_cursor_to_start(cursor)
        return got


@fault("receiver-receive-by-unread-cursor-takes-last-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverReceiveByUnreadCursorTakesLastMessage(UnreadCursorReceiveChanger):
    """A receive by a cursor in the state UNREAD takes the last message, if at least three messages follow."""

    def change(self, cursor: Cursor, no_wait: bool, got: CursorResult) -> CursorResult:
        positions = list_messages_of_cursor(cursor)
        if got[1] is None or len(positions) < 3 or got[1] is not positions[0]:
            return got
        return got[0], positions[-1]


@fault("receiver-second-receive-by-cursor-takes-first-message", breaks="MQDMPR-3.2.7.4-07")
class ReceiverSecondReceiveByCursorTakesFirstMessage(QueueCursors):
    """The second receive by a cursor in the state UNREAD searches from the start of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[Cursor] = set()

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        if cursor in self.used and cursor.CursorState is CursorState.UNREAD:
            self.move_cursor_to_start(cursor)
        self.used.add(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-cursor-failed-receive-moves-cursor-to-end", breaks="MQDMPR-3.2.7.4-14", blind=True)
class QueueManagerCursorFailedReceiveMovesCursorToEnd(QueueCursors):
    """When a receive by a cursor with timeout zero finds no available message, the cursor moves past all messages, even
    past locked messages.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.NOT_FOUND:
            cursor.CursorState = CursorState.WAIT_RECEIVE
            self.on_read_wait_expired(cursor)
        return got


@fault("receiver-cursor-receive-past-last-message-returns-io-timeout", breaks="MQDMPR-3.2.7.4-14")
class ReceiverCursorReceivePastLastMessageReturnsIoTimeout(MessageReading):
    """A receive by a cursor behind the last message, with timeout zero, fails with MQ_ERROR_IO_TIMEOUT, if the queue
    contains a message before the cursor.
    """

    def _answer_read_or_wait(self, queue_desc: OpenQueueDescriptor, got: CursorResult, *rest: Any) -> None:
        queue = queue_desc.QueueReference
        if got[0] is CursorStatus.NOT_FOUND and queue is not None and len(list(queue.MessagePositionList)):
            rest[2](Status.MQ_ERROR_IO_TIMEOUT, None)
        else:
            super()._answer_read_or_wait(queue_desc, got, *rest)


@fault("cursor-unread-receive-begins-at-start-of-queue", breaks="MQDMPR-3.2.7.4-07", blind=True)
class CursorUnreadReceiveBeginsAtStartOfQueue(QueueCursors):
    """After a receive by a cursor, the next receive by this cursor begins at the start of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        if cursor.CursorState is CursorState.UNREAD and not isinstance(cursor.MessagePositionReference, Boundary):
            self.move_cursor_to_start(cursor)
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("pending-receive-does-not-change-cursor-state", breaks="MQDMPR-3.2.7.4-16")
class PendingReceiveDoesNotChangeCursorState(CursorReceiveChanger):
    """A pending receive by a cursor does not change the cursor's state."""

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        if got[0] is CursorStatus.WAITING:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("receiver-second-waiting-receive-leaves-cursor-unread", breaks="MQDMPR-3.2.7.4-16")
class ReceiverSecondWaitingReceiveLeavesCursorUnread(UnreadCursorReceiveChanger):
    """The second time that a receive by a cursor waits, the cursor's state is not set to waiting for a receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.waited: set[Cursor] = set()

    def change(self, cursor: Cursor, no_wait: bool, got: CursorResult) -> CursorResult:
        if got[0] is CursorStatus.WAITING:
            if cursor in self.waited:
                cursor.CursorState = CursorState.UNREAD
            self.waited.add(cursor)
        return got


@fault("cursor-receive-never-waits", breaks="MQDMPR-3.2.7.4-17")
class CursorReceiveNeverWaits(CursorReceiveChanger):
    """A receive by a cursor that finds no message fails, regardless of its timeout."""

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.WAITING else got


@fault("receiver-receive-by-cursor-behind-last-message-does-not-wait", breaks="MQDMPR-3.2.7.4-17")
class ReceiverReceiveByCursorBehindLastMessageDoesNotWait(UnreadCursorReceiveChanger):
    """A receive by a cursor behind the last message of a queue with messages does not wait."""

    def change(self, cursor: Cursor, no_wait: bool, got: CursorResult) -> CursorResult:
        if got[0] is CursorStatus.WAITING and list_messages_of_cursor(cursor):
            return CursorStatus.NOT_FOUND, None
        return got


@fault("cursor-receive-does-not-move-cursor", breaks="MQDMPR-3.2.7.4-20")
class CursorReceiveDoesNotMoveCursor(CursorReceiveChanger):
    """A receive by a cursor does not move the cursor."""

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        if got[0] is CursorStatus.SUCCEEDED:
            _move_cursor(cursor, before)
        return got


add(
    "receive-by-cursor-of-empty-queue-searches-other-queue",
    "MQDMPR-3.2.7.4-04",
    "A receive by a cursor whose queue has no message receives a message of another open queue.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.found_position is None and is_cursor_not_at_read_message(step),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "receive-by-later-cursor-searches-other-queue",
    "MQDMPR-3.2.7.4-04",
    "A receive by a cursor receives a message of another open queue if its own queue has a cursor that was opened "
    "earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.found_position is not None and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "second-receive-by-cursor-searches-other-queue",
    "MQDMPR-3.2.7.4-04",
    "A second receive by a cursor receives a message of another open queue.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.has_received_message_at_position(),
        make_change_of_found_message(get_first_message_of_other_queue),
    ),
)


add(
    "successful-receive-by-cursor-keeps-place-after-receive",
    "MQDMPR-3.2.7.4-20",
    "A receive by an unread cursor does not move the cursor to the message if the cursor has received a message "
    "before.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        keep_cursor_position,
    ),
)


add(
    "successful-receive-by-cursor-keeps-place-passed-locked",
    "MQDMPR-3.2.7.4-20",
    "A receive by an unread cursor does not move the cursor to the message if the read has skipped a locked message.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_skipped_locked_message(),
        keep_cursor_position,
    ),
)


add(
    "successful-receive-by-cursor-keeps-place-low-priority",
    "MQDMPR-3.2.7.4-20",
    "A receive by an unread cursor does not move the cursor to the message if the message has a lower priority than "
    "the first message of the queue.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_lower_priority_found(),
        keep_cursor_position,
    ),
)


add(
    "successful-receive-by-cursor-keeps-place-transactional",
    "MQDMPR-3.2.7.4-20",
    "A receive by an unread cursor does not move the cursor to the message if the message is transactional.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_transactional_message_found(),
        keep_cursor_position,
    ),
)


add(
    "vain-receive-by-cursor-keeps-state-locked",
    "MQDMPR-3.2.7.4-16",
    "A receive by a cursor that finds no message leaves the cursor's state unchanged if a message of the queue is "
    "locked.",
    change_cursor_reads(
        RECEIVE_METHOD, lambda step: has_read_found_no_message(step) and step.is_any_message_locked(), keep_cursor_state
    ),
)


add(
    "vain-receive-by-cursor-keeps-state-after-receive",
    "MQDMPR-3.2.7.4-16",
    "A receive by a cursor that finds no message leaves the cursor's state unchanged if the cursor has received a "
    "message before.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_read_found_no_message(step) and step.has_received_message_at_position(),
        keep_cursor_state,
    ),
)


add(
    "vain-receive-by-cursor-keeps-state-later",
    "MQDMPR-3.2.7.4-16",
    "A receive by a cursor that finds no message leaves the cursor's state unchanged if the queue has a cursor that "
    "was opened earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_read_found_no_message(step) and step.is_not_first_cursor_of_queue(),
        keep_cursor_state,
    ),
)


add(
    "third-receive-by-cursor-keeps-place",
    "MQDMPR-3.2.7.4-20",
    "The third receive by a cursor does not move the cursor.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.count_reads_of_cursor() > 2,
        keep_cursor_position,
    ),
)
