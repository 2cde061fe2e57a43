"""Faults that break the rules MQDMPR-3.2.7.4-21 to MQDMPR-3.2.7.6-05."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault, faulty_only_if
from harness.faults.registry import add
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import INFINITE_TIMEOUT, MessagePosition, Queue
from reference_qm.model.elements import Cursor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from suites.mqdmpr.s3_2_cursor.fault_steps import (
    NOT_FOUND_STATUS,
    RECEIVE_METHOD,
    WAITING_STATUS,
    CursorReceiveChanger,
    UnreadCursorReceiveChanger,
    change_cursor_reads,
    get_first_available_message,
    has_unread_cursor_found_message,
    is_read_message_found_again,
    list_messages_of_cursor,
    make_change_of_found_message,
    make_change_to_cursor_status,
    make_cursor_state_setter,
)


@fault("receiver-receive-by-cursor-returns-message-of-other-cursor", breaks="MQDMPR-3.2.7.4-21")
class ReceiverReceiveByCursorReturnsMessageOfOtherCursor(UnreadCursorReceiveChanger):
    """A receive by a cursor returns the message at a different cursor of the same handle, if that cursor has read."""

    def change(self, cursor: Cursor, no_wait: bool, got: CursorResult) -> CursorResult:
        for one in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            if one is not cursor and one.CursorState is CursorState.READ and got[1] is not None:
                place = one.MessagePositionReference
                if isinstance(place, MessagePosition) and place is not got[1]:
                    return got[0], place
        return got


@fault("unread-cursor-refuses-receive", breaks="MQDMPR-3.2.7.4-22")
class UnreadCursorRefusesReceive(CursorReceiveChanger):
    """A cursor can receive only a message that it has peeked."""

    def change_unread_receive(self, cursor: Cursor, got: CursorResult, before: Entry, no_wait: bool) -> CursorResult:
        return (CursorStatus.ILLEGAL_CURSOR_ACTION, None) if got[0] is CursorStatus.SUCCEEDED else got


@fault("cursor-state-stays-read-after-receive", breaks="MQDMPR-3.2.7.4-26")
class CursorStateStaysReadAfterReceive(CursorReceiveChanger):
    """A receive of the cursor's current message leaves the cursor's state READ."""

    def read(self, cursor: Cursor, got: CursorResult) -> CursorResult:
        cursor.CursorState = CursorState.READ
        return got


@fault("receiver-receive-of-current-message-leaves-cursor-state-read", breaks="MQDMPR-3.2.7.4-26")
class ReceiverReceiveOfCurrentMessageLeavesCursorStateRead(QueueCursors):
    """A receive of the current message leaves the cursor in the state READ, if messages follow."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if read and got[1] is not None and got[1] is not list_messages_of_cursor(cursor)[-1]:
            cursor.CursorState = CursorState.READ
        return got


@fault("cursor-receives-message-after-current-one", breaks="MQDMPR-3.2.7.4-27")
class CursorReceivesMessageAfterCurrentOne(CursorReceiveChanger):
    """A receive by a cursor returns the message after the current message, if such a message exists."""

    def read(self, cursor: Cursor, got: CursorResult) -> CursorResult:
        behind = self.qm.message_search.seek_available(cursor.MessagePositionReference, False)
        return got if behind is None else (CursorStatus.SUCCEEDED, behind)


@fault("cursor-receive-after-two-peeks-takes-message-peeked-first", breaks="MQDMPR-3.2.7.4-27")
class CursorReceiveAfterTwoPeeksTakesMessagePeekedFirst(QueueCursors):
    """After two peeks at the next message by a cursor, a receive by this cursor takes the message before the current
    message.
    """

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before = cursor.MessagePositionReference
        got = super().get_next_message_for_peek(cursor)
        steps = getattr(self, "steps", {})
        count, _ = steps.get(cursor.Handle, (0, None))
        self.steps = steps | {cursor.Handle: (count + 1, before)}
        return got

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        count, before = getattr(self, "steps", {}).get(cursor.Handle, (0, None))
        if cursor.CursorState is CursorState.READ and count == 2 and before is not None:
            queue = cursor.OpenQueueDescriptorReference.QueueReference
            if queue is not None:
                queue.MessagePositionList.hold(before)
                queue.MessagePositionList.release(cursor.MessagePositionReference)
            cursor.MessagePositionReference = before
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("receiver-cursor-receive-at-last-message-returns-first-message", breaks="MQDMPR-3.2.7.4-27")
class ReceiverCursorReceiveAtLastMessageReturnsFirstMessage(QueueCursors):
    """A receive by a cursor at the last available message returns the first message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        read = cursor.CursorState is CursorState.READ
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        positions = list_messages_of_cursor(cursor)
        return (got[0], positions[0]) if read and got[1] is not None and got[1] is positions[-1] else got


@fault("cursor-cannot-receive-peeked-message", breaks="MQDMPR-3.2.7.4-28")
class CursorCannotReceivePeekedMessage(CursorReceiveChanger):
    """A cursor cannot receive a message that it has peeked."""

    def read(self, cursor: Cursor, got: CursorResult) -> CursorResult:
        return CursorStatus.ILLEGAL_CURSOR_ACTION, None


@fault("cursor-receives-next-message-when-current-was-received", breaks="MQDMPR-3.2.7.4-30")
class CursorReceivesNextMessageWhenCurrentWasReceived(CursorReceiveChanger):
    """A receive by a cursor whose message another reader has received returns the next message."""

    def read(self, cursor: Cursor, got: CursorResult) -> CursorResult:
        if got[0] is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return self.get_next_message_for_dequeue(cursor, True)
        return got


@fault("queue-manager-cursor-receive-of-expired-message-takes-next", breaks="MQDMPR-3.2.7.4-30", blind=True)
class QueueManagerCursorReceiveOfExpiredMessageTakesNext(QueueCursors):
    """A receive by a cursor whose current message has expired returns the next message instead of failing."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        at = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.READ and isinstance(at, MessagePosition):
            limited = at.MessageReference.TimeToBeReceived != INFINITE_TIMEOUT
            if limited and at.State is MessagePositionState.DELETED:
                cursor.CursorState = CursorState.UNREAD
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault(
    "cursor-state-unread-after-completed-pending-peek",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.5-04"),
)
class CursorStateUnreadAfterCompletedPendingPeek(QueueCursors):
    """A message that completes a pending peek by a cursor sets the cursor's state to UNREAD."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().on_message_available(cursor, message_position)
        cursor.CursorState = CursorState.UNREAD


@fault("cursor-state-read-after-completed-pending-receive", breaks="MQDMPR-3.2.7.5-06")
class CursorStateReadAfterCompletedPendingReceive(QueueCursors):
    """A message that completes a pending receive by a cursor sets the cursor's state to READ."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().on_message_available(cursor, message_position)
        cursor.CursorState = CursorState.READ


@fault("queue-manager-cursor-state-read-after-waiting-receive", breaks="MQDMPR-3.2.7.5-06")
class QueueManagerCursorStateReadAfterWaitingReceive(QueueCursors):
    """A message that completes a pending receive by a cursor sets the cursor's state to READ."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        received = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().on_message_available(cursor, message_position)
        if received:
            cursor.CursorState = CursorState.READ


@fault("completed-cursor-receive-sets-all-cursors-of-handle-unread", breaks="MQDMPR-3.2.7.5-06")
class CompletedCursorReceiveSetsAllCursorsOfHandleUnread(QueueCursors):
    """A message that completes a pending receive by a cursor sets all cursors of the handle to UNREAD."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        receives = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().on_message_available(cursor, message_position)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values() if receives else ():
            other.CursorState = CursorState.UNREAD


@fault("queue-manager-waiting-cursor-not-moved-to-message-of-higher-priority", breaks="MQDMPR-3.2.7.5-07")
class QueueManagerWaitingCursorNotMovedToMessageOfHigherPriority(QueueCursors):
    """A message that completes a pending peek by a cursor does not move the cursor if the message has a higher priority
    than the cursor's last message.
    """

    @faulty_only_if(
        lambda part, cursor, message_position: (
            not isinstance(cursor.MessagePositionReference, Boundary)
            and cursor.MessagePositionReference.MessageReference.Priority < message_position.MessageReference.Priority
        )
    )
    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        cursor.CursorState = CursorState.READ if cursor.CursorState is CursorState.WAIT_PEEK else CursorState.UNREAD


@fault("cursor-not-moved-by-timed-out-receive", breaks="MQDMPR-3.2.7.6-04")
class CursorNotMovedByTimedOutReceive(QueueCursors):
    """When a receive by a cursor times out, the cursor stays at its position instead of moving past all messages."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        cursor.CursorState = CursorState.UNREAD


@fault("cursor-of-timed-out-receive-moves-to-start-of-queue", breaks="MQDMPR-3.2.7.6-04")
class CursorOfTimedOutReceiveMovesToStartOfQueue(QueueCursors):
    """When a pending receive by a cursor ends without a message, the cursor moves to the start of the queue."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        waited = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().on_read_wait_expired(cursor)
        if waited:
            self.move_cursor_to_start(cursor)


@fault("queue-manager-cursor-of-cancelled-receive-not-moved", breaks="MQDMPR-3.2.7.6-04", blind=True)
class QueueManagerCursorOfCancelledReceiveNotMoved(WaitingReads):
    """When a pending receive by a cursor is cancelled, the cursor stays where it was."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        cursor = reader.CursorReference
        if (
            status is not Status.MQ_ERROR_IO_TIMEOUT
            and cursor is not None
            and cursor.CursorState is CursorState.WAIT_RECEIVE
        ):
            cursor.CursorState = CursorState.UNREAD
        super().end_wait_without_message(reader, status)


@fault("cursor-of-cancelled-receive-keeps-waiting-state", breaks="MQDMPR-3.2.7.6-05")
class CursorOfCancelledReceiveKeepsWaitingState(WaitingReads):
    """When a receive by a cursor is cancelled, the cursor keeps its waiting state."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag is not None and reader.Tag == tag:
                    reader.CursorReference = None
        result: Status = super().cancel_waiting_read(queue, tag, status)
        return result


add(
    "successful-receive-by-cursor-fails-last",
    "MQDMPR-3.2.7.4-22",
    "A receive by an unread cursor that finds a message fails if the last message of the queue is found.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_last_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-receive-by-cursor-fails-after-receive",
    "MQDMPR-3.2.7.4-22",
    "A receive by an unread cursor that finds a message fails if the cursor has received a message before.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-receive-by-cursor-fails-large",
    "MQDMPR-3.2.7.4-22",
    "A receive by an unread cursor that finds a message fails if the message has a large body.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_large_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "successful-receive-by-cursor-fails-transactional",
    "MQDMPR-3.2.7.4-22",
    "A receive by an unread cursor that finds a message fails if the message is transactional.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_transactional_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-read-message-by-cursor-fails-last",
    "MQDMPR-3.2.7.4-28",
    "A receive by a cursor at an available message that it has read fails if the last message of the queue is found.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_last_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-read-message-by-cursor-fails-later",
    "MQDMPR-3.2.7.4-28",
    "A receive by a cursor at an available message that it has read fails if the queue has a cursor that was opened "
    "earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_not_first_cursor_of_queue(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-read-message-by-cursor-fails-large",
    "MQDMPR-3.2.7.4-28",
    "A receive by a cursor at an available message that it has read fails if the message has a large body.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_large_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-read-message-by-cursor-fails-transactional",
    "MQDMPR-3.2.7.4-28",
    "A receive by a cursor at an available message that it has read fails if the message is transactional.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_transactional_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-by-cursor-returns-first-message-low-priority",
    "MQDMPR-3.2.7.4-21",
    "A receive by an unread cursor returns the first message of the queue instead of a message with a lower priority.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_lower_priority_found(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "receive-by-cursor-returns-first-message-after-receive",
    "MQDMPR-3.2.7.4-21",
    "A receive by an unread cursor returns the first message of the queue if the cursor has received a message before.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.has_received_message_at_position(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "receive-by-cursor-returns-first-message-later",
    "MQDMPR-3.2.7.4-21",
    "A receive by an unread cursor returns the first message of the queue if the queue has a cursor that was opened "
    "earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "receive-by-cursor-keeps-state-last",
    "MQDMPR-3.2.7.4-26",
    "A receive of the cursor's current message leaves the cursor's state READ if the last message of the queue is "
    "found.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_last_message_found(),
        make_cursor_state_setter(CursorState.READ),
    ),
)


add(
    "receive-by-cursor-keeps-state-later",
    "MQDMPR-3.2.7.4-26",
    "A receive of the cursor's current message leaves the cursor's state READ if the queue has a cursor that was "
    "opened earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_not_first_cursor_of_queue(),
        make_cursor_state_setter(CursorState.READ),
    ),
)


add(
    "receive-by-cursor-keeps-state-low-priority",
    "MQDMPR-3.2.7.4-26",
    "A receive of the cursor's current message leaves the cursor's state READ if the message has a lower priority "
    "than the first message of the queue.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_lower_priority_found(),
        make_cursor_state_setter(CursorState.READ),
    ),
)


add(
    "receive-by-cursor-keeps-state-transactional",
    "MQDMPR-3.2.7.4-26",
    "A receive of the cursor's current message leaves the cursor's state READ if the message is transactional.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_transactional_message_found(),
        make_cursor_state_setter(CursorState.READ),
    ),
)


add(
    "second-receive-of-lost-message-returns-other",
    "MQDMPR-3.2.7.4-30",
    "After a receive by a cursor at a message that another reader has received, a further receive takes the next "
    "message.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.is_message_received_by_other_reader(),
        make_cursor_state_setter(CursorState.UNREAD),
    ),
)


add(
    "receive-of-lost-message-by-cursor-waits",
    "MQDMPR-3.2.7.4-30",
    "A receive by a cursor at a message that another reader has received waits.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.is_message_received_by_other_reader(),
        make_change_to_cursor_status(WAITING_STATUS),
    ),
)


add(
    "receive-of-lost-message-by-later-cursor-returns-first",
    "MQDMPR-3.2.7.4-30",
    "A receive by a cursor at a message that another reader has received takes the first message if the queue has a "
    "cursor that was opened earlier.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.is_message_received_by_other_reader() and step.is_not_first_cursor_of_queue(),
        make_change_of_found_message(get_first_available_message),
    ),
)


add(
    "receive-of-locked-message-by-cursor-returns-message",
    "MQDMPR-3.2.7.4-30",
    "A receive by a cursor at a message that another reader has locked returns that message.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: step.is_message_received_by_other_reader() and step.is_any_message_locked(),
        make_change_of_found_message(lambda step: step.before if step.before in step.messages else None),
    ),
)


add(
    "receive-of-express-message-by-unread-cursor-fails",
    "MQDMPR-3.2.7.4-22",
    "A receive by an unread cursor that finds an express message fails.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: has_unread_cursor_found_message(step) and step.is_express_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-read-express-message-by-cursor-fails",
    "MQDMPR-3.2.7.4-28",
    "A receive by a cursor at an available express message that it has read fails.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_express_message_found(),
        make_change_to_cursor_status(NOT_FOUND_STATUS),
    ),
)


add(
    "receive-of-express-message-by-cursor-keeps-state",
    "MQDMPR-3.2.7.4-26",
    "A receive of the cursor's current message leaves the cursor's state READ if that message is express.",
    change_cursor_reads(
        RECEIVE_METHOD,
        lambda step: is_read_message_found_again(step) and step.is_express_message_found(),
        make_cursor_state_setter(CursorState.READ),
    ),
)
