from __future__ import annotations

from reference_qm.core.part import Part
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Boundary, Entry, MessagePositionList
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus

Got = tuple[CursorStatus, "MessagePosition | None"]
"""rStatus, and rPosition if it is Succeeded."""


class Cursors(Part):
    """Cursors. Spec: MS-MQDMPR 3.1.7.1.1, 3.1.7.1.2, 3.2.7."""

    __slots__ = ()

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        """Make a cursor at the start of a queue; None when the queue is gone. Spec: MS-MQDMPR 3.1.7.1.1, 3.2.7.1."""
        if queue_desc.QueueReference is None:
            return None
        cursor = Cursor(self.qm.next_handle(), queue_desc, queue_desc.QueueReference.MessagePositionList.Start)
        queue_desc.CursorCollection[cursor.Handle] = cursor
        return cursor

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        """Return the message that a cursor is at, or the first one. Spec: MS-MQDMPR 3.2.7.2.

        Nothing is printed for a cursor that waited in vain, which stays WaitPeek, nor for one that waited for a
        receive: it looks on from where it is, as an unread one.
        """
        if cursor.CursorState is CursorState.READ:
            if _is_available(_require_position(cursor)):
                return CursorStatus.SUCCEEDED, _require_position(cursor)
            return CursorStatus.ALREADY_RECEIVED, None
        return self._seek_for_peek(cursor)

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        """Return the message after the one that was read; one must have been. Spec: MS-MQDMPR 3.2.7.3.

        One that waited in vain for the next message may ask for it again.
        """
        if cursor.CursorState is CursorState.UNREAD:
            return CursorStatus.ILLEGAL_CURSOR_ACTION, None
        return self._seek_for_peek(cursor)

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        """Return the message that is to be received through a cursor. Spec: MS-MQDMPR 3.2.7.4."""
        if cursor.CursorState is CursorState.READ:
            if not _is_available(_require_position(cursor)):
                return CursorStatus.ALREADY_RECEIVED, None
            cursor.CursorState = CursorState.UNREAD
            return CursorStatus.SUCCEEDED, _require_position(cursor)
        position = self.qm.seeking.seek_available(cursor.MessagePositionReference, False)
        if position is not None:
            _move_cursor(cursor, position)
            return CursorStatus.SUCCEEDED, position
        if no_wait:
            return CursorStatus.NOT_FOUND, None
        cursor.CursorState = CursorState.WAIT_RECEIVE
        return CursorStatus.WAITING, None

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        """Note the message that a cursor waited for. Spec: MS-MQDMPR 3.2.7.5."""
        if cursor.CursorState is CursorState.WAIT_PEEK:
            cursor.CursorState = CursorState.READ
        elif cursor.CursorState is CursorState.WAIT_RECEIVE:
            cursor.CursorState = CursorState.UNREAD
        _move_cursor(cursor, message_position)

    def wait_expired(self, cursor: Cursor) -> None:
        """Note that a cursor waited in vain. Spec: MS-MQDMPR 3.2.7.6.

        Printed is to go to End, from where nothing that comes later could ever be reached. So it goes to the last
        message there is, the place before End.
        """
        if cursor.CursorState is CursorState.WAIT_RECEIVE:
            positions = _positions_of(cursor)
            if positions is not None:
                _move_cursor(cursor, positions.Tail)
            cursor.CursorState = CursorState.UNREAD

    def rewind(self, cursor: Cursor) -> None:
        """Let a cursor refer to the start of its queue, unless that is gone. Spec: MS-MQDMPR 3.1.7.1.2."""
        positions = _positions_of(cursor)
        if positions is not None:
            _move_cursor(cursor, positions.Start)

    def _seek_for_peek(self, cursor: Cursor) -> Got:
        position = self.qm.seeking.seek_available(cursor.MessagePositionReference, True)
        if position is None:
            cursor.CursorState = CursorState.WAIT_PEEK
            return CursorStatus.WAITING, None
        cursor.CursorState = CursorState.READ
        _move_cursor(cursor, position)
        return CursorStatus.SUCCEEDED, position


def _move_cursor(cursor: Cursor, entry: Entry) -> None:
    """Let a cursor refer to an entry, which stays in the list as long as it does."""
    positions = _positions_of(cursor)
    assert positions is not None
    positions.hold(entry)
    positions.release(cursor.MessagePositionReference)
    cursor.MessagePositionReference = entry


def _positions_of(cursor: Cursor) -> MessagePositionList | None:
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    return None if queue is None else queue.MessagePositionList


def _require_position(cursor: Cursor) -> MessagePosition:
    from_list = cursor.MessagePositionReference
    assert not isinstance(from_list, Boundary)
    return from_list


def _is_available(position: MessagePosition) -> bool:
    return position.State is MessagePositionState.AVAILABLE
