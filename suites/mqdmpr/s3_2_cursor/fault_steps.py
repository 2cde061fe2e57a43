"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.queueing.cursors import Cursors, Got, _get_positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import Entry, MessagePositionList


def get_start_position(cursor: Cursor) -> Entry:
    """Return the first entry in the list of message positions of a cursor's queue."""
    positions = _get_positions(cursor)
    assert positions is not None
    return positions.Start


class Receives(Cursors):
    """Change the receives by a cursor, according to the state of the cursor."""

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


def get_message_list(cursor: Cursor) -> MessagePositionList:
    """Return the list of message positions of a cursor's queue."""
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    assert queue is not None
    return queue.MessagePositionList


def list_messages_of_cursor(cursor: Cursor) -> list[MessagePosition]:
    """Return the messages in the queue of a cursor."""
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    return [] if queue is None else list(queue.MessagePositionList)


class Dequeue(Cursors):
    """Change some receives by a cursor that has read no message."""

    def change(self, cursor: Cursor, no_wait: bool, got: Got) -> Got:
        raise NotImplementedError

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        return self.change(cursor, no_wait, super().get_next_message_for_dequeue(cursor, no_wait))
