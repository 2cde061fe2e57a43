"""Faults of MS-MQDMPR 3.2: cursors."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import with_arguments
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors, Got, _get_positions, _move_cursor
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.position_list import Boundary, Entry, MessagePositionList
from reference_qm.model.statuses import CursorStatus, Status


def _get_start_position(cursor: Cursor) -> Entry:
    positions = _get_positions(cursor)
    assert positions is not None
    return positions.Start


# -- a new cursor --------------------------------------------------------------------------------------------------


@fault("cursor-handles-numbered-per-queue", breaks=("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05"))
class CursorHandlesNumberedPerQueue(Cursors):
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


@fault(
    "cursor-reads-first-opened-queue",
    breaks=("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03", "MQDMPR-3.2.7.3-03", "MQDMPR-3.2.7.4-04"),
)
class CursorReadsFirstOpenedQueue(Cursors):
    """All cursors read the queue that was opened first."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        first = next(iter(self.qm.descriptors.values())).QueueReference
        if cursor is not None and first is not None:
            cursor.MessagePositionReference = first.MessagePositionList.Start
        return cursor


@fault("new-cursor-starts-after-last-message", breaks="MQDMPR-3.2.7.1-07")
class NewCursorStartsAfterLastMessage(Cursors):
    """A new cursor is positioned after the last message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None and queue_desc.QueueReference is not None:
            _move_cursor(cursor, queue_desc.QueueReference.MessagePositionList.End)
        return cursor


@fault("new-cursor-waiting-for-peek", breaks="MQDMPR-3.2.7.1-08")
class NewCursorWaitingForPeek(Cursors):
    """A new cursor has the state of a cursor with a pending peek."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor: Cursor | None = super().open(queue_desc)
        if cursor is not None:
            cursor.CursorState = CursorState.WAIT_PEEK
        return cursor


# -- peeks ---------------------------------------------------------------------------------------------------------


@fault("unread-cursor-peeks-last-message", breaks=("MQDMPR-3.2.7.2-06", "MQDMPR-3.2.7.2-18"))
class UnreadCursorPeeksLastMessage(Cursors):
    """A peek by a cursor in the state UNREAD returns the last message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        positions = _get_positions(cursor)
        if cursor.CursorState is CursorState.UNREAD and positions is not None:
            last = self.qm.seeking.seek_available(positions.End, True, SeekDirection.BACKWARD)
            if last is not None:
                _move_cursor(cursor, last)
                cursor.CursorState = CursorState.READ
                return CursorStatus.SUCCEEDED, last
        got: Got = super().get_message_for_peek(cursor)
        return got


@fault("pending-peek-does-not-change-cursor-state", breaks=("MQDMPR-3.2.7.2-12", "MQDMPR-3.2.7.3-15"))
class PendingPeekDoesNotChangeCursorState(Cursors):
    """A pending peek by a cursor does not change the cursor's state."""

    def _seek_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.CursorState
        got: Got = super()._seek_for_peek(cursor)
        if got[0] is CursorStatus.WAITING:
            cursor.CursorState = before
        return got


@fault("cursor-peek-never-waits", breaks=("MQDMPR-3.2.7.2-13", "MQDMPR-3.2.7.3-16"))
class CursorPeekNeverWaits(Cursors):
    """A peek by a cursor that finds no message fails, regardless of its timeout."""

    def _seek_for_peek(self, cursor: Cursor) -> Got:
        status, position = super()._seek_for_peek(cursor)
        return (CursorStatus.NOT_FOUND if status is CursorStatus.WAITING else status), position


@fault("cursor-peek-leaves-unread", breaks="MQDMPR-3.2.7.2-16")
class CursorPeekLeavesUnread(Cursors):
    """A peek by a cursor leaves the cursor's state UNREAD."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_message_for_peek(cursor)
        if got[0] is CursorStatus.SUCCEEDED:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-does-not-move-cursor", breaks="MQDMPR-3.2.7.2-17")
class CursorPeekDoesNotMoveCursor(Cursors):
    """A peek by a cursor leaves the cursor at the start of the queue."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        got: Got = super().get_message_for_peek(cursor)
        _move_cursor(cursor, _get_start_position(cursor))
        cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-peek-returns-first-message", breaks=("MQDMPR-3.2.7.2-18", "MQDMPR-3.2.7.2-23"))
class CursorPeekReturnsFirstMessage(Cursors):
    """A peek by a cursor returns the first message of the queue, regardless of the cursor's position."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        if status is CursorStatus.SUCCEEDED:
            position = self.qm.seeking.seek_available(_get_start_position(cursor), True)
        return status, position


@fault("cursor-first-peek-fails", breaks="MQDMPR-3.2.7.2-19")
class CursorFirstPeekFails(Cursors):
    """The first peek by a cursor moves the cursor to a message and fails."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        unread = cursor.CursorState is CursorState.UNREAD
        got: Got = super().get_message_for_peek(cursor)
        return (CursorStatus.NOT_FOUND, None) if unread and got[0] is CursorStatus.SUCCEEDED else got


@fault("cursor-second-peek-returns-already-received", breaks=("MQDMPR-3.2.7.2-23", "MQDMPR-3.2.7.2-24"))
class CursorSecondPeekReturnsAlreadyReceived(Cursors):
    """A cursor's second peek at the same message fails, as if the message had been received."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            return CursorStatus.ALREADY_RECEIVED, None
        got: Got = super().get_message_for_peek(cursor)
        return got


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


# -- receives ------------------------------------------------------------------------------------------------------


_WAITS_FOR_EVER = with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None)
"""Replace the timeout 0 of a read with an infinite timeout."""


class _Receives(Cursors):
    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        unread = cursor.CursorState is not CursorState.READ
        before = cursor.MessagePositionReference
        got: Got = super().get_next_message_for_dequeue(cursor, no_wait)
        return self.unread(cursor, got, before, no_wait) if unread else self.read(cursor, got)

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        """Change the result of a receive by a cursor whose state is not READ."""
        return got

    def read(self, cursor: Cursor, got: Got) -> Got:
        """Change the result of a receive by a cursor whose state is READ."""
        return got


@fault("cursor-receive-with-timeout-0-times-out", breaks="MQDMPR-3.2.7.4-14")
class CursorReceiveWithTimeout0TimesOut(Cursors):
    """A receive by a cursor with timeout zero that finds no message returns MQ_ERROR_IO_TIMEOUT."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got: Got = super().get_next_message_for_dequeue(cursor, False)
        return got


add(
    "cursor-receive-with-timeout-0-waits",
    "MQDMPR-3.2.7.4-02",
    "A receive by a cursor with timeout zero waits without limit.",
    both(_WAITS_FOR_EVER, replace_part(CursorReceiveWithTimeout0TimesOut)),
)


@fault("unread-cursor-receives-first-message", breaks=("MQDMPR-3.2.7.4-07", "MQDMPR-3.2.7.4-21"))
class UnreadCursorReceivesFirstMessage(_Receives):
    """A receive by a cursor in the state UNREAD returns the first message of the queue."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        first = self.qm.seeking.seek_available(_get_start_position(cursor), False)
        return got if first is None else (CursorStatus.SUCCEEDED, first)


@fault("cursor-receive-does-not-move-cursor", breaks="MQDMPR-3.2.7.4-20")
class CursorReceiveDoesNotMoveCursor(_Receives):
    """A receive by a cursor does not move the cursor."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        if got[0] is CursorStatus.SUCCEEDED:
            _move_cursor(cursor, before)
        return got


@fault("unread-cursor-refuses-receive", breaks="MQDMPR-3.2.7.4-22")
class UnreadCursorRefusesReceive(_Receives):
    """A cursor can receive only a message that it has peeked."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        return (CursorStatus.ILLEGAL_CURSOR_ACTION, None) if got[0] is CursorStatus.SUCCEEDED else got


@fault("pending-receive-does-not-change-cursor-state", breaks="MQDMPR-3.2.7.4-16")
class PendingReceiveDoesNotChangeCursorState(_Receives):
    """A pending receive by a cursor does not change the cursor's state."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        if got[0] is CursorStatus.WAITING:
            cursor.CursorState = CursorState.UNREAD
        return got


@fault("cursor-receive-never-waits", breaks="MQDMPR-3.2.7.4-17")
class CursorReceiveNeverWaits(_Receives):
    """A receive by a cursor that finds no message fails, regardless of its timeout."""

    def unread(self, cursor: Cursor, got: Got, before: Entry, no_wait: bool) -> Got:
        return (CursorStatus.NOT_FOUND, None) if got[0] is CursorStatus.WAITING else got


@fault("cursor-stays-read-after-receive", breaks="MQDMPR-3.2.7.4-26")
class CursorStaysReadAfterReceive(_Receives):
    """A receive of the cursor's current message leaves the cursor's state READ."""

    def read(self, cursor: Cursor, got: Got) -> Got:
        cursor.CursorState = CursorState.READ
        return got


@fault("cursor-receives-message-after-current-one", breaks="MQDMPR-3.2.7.4-27")
class CursorReceivesMessageAfterCurrentOne(_Receives):
    """A receive by a cursor returns the message after the current message, if such a message exists."""

    def read(self, cursor: Cursor, got: Got) -> Got:
        behind = self.qm.seeking.seek_available(cursor.MessagePositionReference, False)
        return got if behind is None else (CursorStatus.SUCCEEDED, behind)


@fault("cursor-cannot-receive-peeked-message", breaks="MQDMPR-3.2.7.4-28")
class CursorCannotReceivePeekedMessage(_Receives):
    """A cursor cannot receive a message that it has peeked."""

    def read(self, cursor: Cursor, got: Got) -> Got:
        return CursorStatus.ILLEGAL_CURSOR_ACTION, None


@fault("cursor-receives-next-when-current-taken", breaks="MQDMPR-3.2.7.4-30")
class CursorReceivesNextWhenCurrentTaken(_Receives):
    """A receive by a cursor whose message another reader has received returns the next message."""

    def read(self, cursor: Cursor, got: Got) -> Got:
        if got[0] is CursorStatus.ALREADY_RECEIVED:
            cursor.CursorState = CursorState.UNREAD
            return self.get_next_message_for_dequeue(cursor, True)
        return got


# -- waiting -------------------------------------------------------------------------------------------------------


@fault("cursor-state-read-during-pending-receive", breaks="MQDMPR-3.2.7.5-06")
class CursorStateReadDuringPendingReceive(Cursors):
    """A message that completes a pending receive by a cursor sets the cursor's state to READ."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().message_available(cursor, message_position)
        cursor.CursorState = CursorState.READ


@fault("cursor-not-moved-by-timed-out-receive", breaks="MQDMPR-3.2.7.6-04")
class CursorNotMovedByTimedOutReceive(Cursors):
    """When a receive by a cursor times out, the cursor stays at its position instead of moving past all messages."""

    def wait_expired(self, cursor: Cursor) -> None:
        cursor.CursorState = CursorState.UNREAD


@fault("cursor-state-unread-during-pending-peek", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.5-04"))
class CursorStateUnreadDuringPendingPeek(Cursors):
    """A message that completes a pending peek by a cursor sets the cursor's state to UNREAD."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().message_available(cursor, message_position)
        cursor.CursorState = CursorState.UNREAD


@fault(
    "cursor-moves-on-when-message-removed",
    breaks=(
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.10-D03",
        "MQDMPR-3.2.7.2-27",
        "MQDMPR-3.1.7.2.1-04",
    ),
)
class CursorMovesOnWhenMessageRemoved(Cursors):
    """When the message of a cursor is removed, the cursor moves to the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


def _get_message_list(cursor: Cursor) -> MessagePositionList:
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    assert queue is not None
    return queue.MessagePositionList


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
                _move_cursor(cursor, _get_message_list(cursor).Start)
        return super().get_next_message_for_peek(cursor)


@fault(
    "unread-cursor-accepts-peek-next",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.3-06", "MQDMPR-3.2.7.1-08"),
)
class UnreadCursorAcceptsPeekNext(Cursors):
    """A peek at the next message by a cursor in the state UNREAD returns the first message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        return self._seek_for_peek(cursor)


@fault(
    "cursor-stays-waiting-after-timeout",
    breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.2.7.6-05"),
)
class CursorStaysWaitingAfterTimeout(Cursors):
    """A cursor remains in its waiting state after its pending read has timed out."""

    def wait_expired(self, cursor: Cursor) -> None:
        pass


@fault(
    "cursor-not-moved-by-arriving-message",
    breaks=(
        *("MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-36"),
        *("MQDMPR-3.1.7.1.10-31", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.15-27"),
        "MQDMPR-3.2.7.5-07",
    ),
)
class CursorNotMovedByArrivingMessage(Cursors):
    """A message that completes a pending read by a cursor does not move the cursor."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        cursor.CursorState = CursorState.UNREAD
        _move_cursor(cursor, _get_message_list(cursor).End)


@fault("cursor-of-cancelled-receive-waits", breaks="MQDMPR-3.2.7.6-05")
class CursorOfCancelledReceiveWaits(Waiting):
    """When a receive by a cursor is cancelled, the cursor keeps its waiting state."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            for reader in descriptor.WaitingMessageReadOperationCollection:
                if reader.Tag is not None and reader.Tag == tag:
                    reader.CursorReference = None
        result: Status = super().cancel_waiting_read(queue, tag, status)
        return result
