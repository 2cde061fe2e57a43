from __future__ import annotations

from typing import cast

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry, MessagePositionList
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus

CursorResult = tuple[CursorStatus, "MessagePosition | None"]
"""The return values of the events of a cursor: rStatus, and rPosition if rStatus is Succeeded."""


class QueueCursors(QueueManagerPart):
    """Opens and moves cursors. Spec: MS-MQDMPR 3.1.7.1.1, 3.1.7.1.2, 3.2.7."""

    __slots__ = ()

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        """Create a cursor at the start of a queue. Return None if the queue was deleted. Spec: MS-MQDMPR 3.1.7.1.1,
        3.2.7.1.
        """
        if queue_desc.QueueReference is None:
            return None
        cursor = Cursor(self.qm.assign_handle(), queue_desc, queue_desc.QueueReference.MessagePositionList.Start)
        queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        """Return the message at a cursor. If the cursor has read no message yet, move the cursor to the next
        message and return this message. Spec: MS-MQDMPR 3.2.7.2.

        The document does not specify the step for a cursor whose wait expired (its state stays WaitPeek), or for a
        cursor that waited to receive. Both cursors are treated like a cursor that has read no message.
        """
        if cursor.CursorState is CursorState.READ:
            if _is_position_available(_require_message_position(cursor)):
                return CursorStatus.SUCCEEDED, _require_message_position(cursor)
            return CursorStatus.ALREADY_RECEIVED, None
        return self._seek_for_peek(cursor)

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        """Move a cursor to the next message and return this message. Spec: MS-MQDMPR 3.2.7.3.

        The cursor must already have read a message, or its wait for the next message must have expired.
        """
        if cursor.CursorState is CursorState.UNREAD:
            return CursorStatus.ILLEGAL_CURSOR_ACTION, None
        return self._seek_for_peek(cursor)

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        """Return the message that a receive with the given cursor will remove. Spec: MS-MQDMPR 3.2.7.4."""
        if cursor.CursorState is CursorState.READ:
            if not _is_position_available(_require_message_position(cursor)):
                return CursorStatus.ALREADY_RECEIVED, None
            cursor.CursorState = CursorState.UNREAD
            return CursorStatus.SUCCEEDED, _require_message_position(cursor)
        position = self.qm.message_search.seek_available(cursor.MessagePositionReference, False)
        if position is not None:
            _move_cursor(cursor, position)
            return CursorStatus.SUCCEEDED, position
        if no_wait:
            return CursorStatus.NOT_FOUND, None
        cursor.CursorState = CursorState.WAIT_RECEIVE
        return CursorStatus.WAITING, None

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        """Move a waiting cursor to a message that has become available. Spec: MS-MQDMPR 3.2.7.5."""
        if cursor.CursorState is CursorState.WAIT_PEEK:
            cursor.CursorState = CursorState.READ
        elif cursor.CursorState is CursorState.WAIT_RECEIVE:
            cursor.CursorState = CursorState.UNREAD
        _move_cursor(cursor, message_position)

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        """Move a cursor whose wait for a message has expired. Spec: MS-MQDMPR 3.2.7.6.

        The document moves the cursor to End, from which it could not reach messages that arrive later. This method
        moves the cursor to the last message, unless the cursor is already past that message. Deleted messages that stay
        linked for other cursors are skipped.
        """
        if cursor.CursorState is CursorState.WAIT_RECEIVE:
            positions = _get_positions_of_cursor_queue(cursor)
            if positions is not None:
                last = positions.Tail
                while last is not cursor.MessagePositionReference and _is_deleted(last):
                    last = cast("Entry", last.Previous)
                _move_cursor(cursor, last)
            cursor.CursorState = CursorState.UNREAD

    def move_cursor_to_start(self, cursor: Cursor) -> None:
        """Move a cursor to the start of its queue, unless the queue was deleted. Spec: MS-MQDMPR 3.1.7.1.2."""
        positions = _get_positions_of_cursor_queue(cursor)
        if positions is not None:
            _move_cursor(cursor, positions.Start)

    def _seek_for_peek(self, cursor: Cursor) -> CursorResult:
        position = self.qm.message_search.seek_available(cursor.MessagePositionReference, True)
        if position is None:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        cursor.CursorState = CursorState.READ
        _move_cursor(cursor, position)
        return CursorStatus.SUCCEEDED, position


def _move_cursor(cursor: Cursor, entry: Entry) -> None:
    """Move a cursor to an entry in the list of messages. A message that is deleted meanwhile stays linked in the list
    until the cursor leaves its entry.
    """
    positions = _get_positions_of_cursor_queue(cursor)
    assert positions is not None
    positions.hold(entry)
    positions.release(cursor.MessagePositionReference)
    cursor.MessagePositionReference = entry


def _get_positions_of_cursor_queue(cursor: Cursor) -> MessagePositionList | None:
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    return None if queue is None else queue.MessagePositionList


def _require_message_position(cursor: Cursor) -> MessagePosition:
    from_list = cursor.MessagePositionReference
    assert not isinstance(from_list, Boundary)
    return from_list


def _is_deleted(entry: Entry) -> bool:
    return not isinstance(entry, Boundary) and entry.State is MessagePositionState.DELETED


def _is_position_available(position: MessagePosition) -> bool:
    return position.State is MessagePositionState.AVAILABLE
