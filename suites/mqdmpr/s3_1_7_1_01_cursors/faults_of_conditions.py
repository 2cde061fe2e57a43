"""Faults that break the rule MQDMPR-3.1.7.1.1-08 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import MessagePositionList


@fault("queue-manager-new-cursor-placed-at-message-of-other-cursor", breaks="MQDMPR-3.1.7.1.1-08", blind=True)
class QueueManagerNewCursorPlacedAtMessageOfOtherCursor(QueueCursors):
    """If another cursor has read a message, a new cursor behaves as if it had read the same message."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        others = list(queue_desc.CursorCollection.values())
        cursor = super().open(queue_desc)
        if cursor is not None and others and others[-1].CursorState is CursorState.READ:
            positions: MessagePositionList = queue_desc.QueueReference.MessagePositionList  # type: ignore[union-attr]
            positions.hold(others[-1].MessagePositionReference)
            cursor.MessagePositionReference = others[-1].MessagePositionReference
            cursor.CursorState = CursorState.READ
        return cursor


@fault("queue-manager-second-cursor-begins-behind-first-message", breaks="MQDMPR-3.1.7.1.1-08", blind=True)
class QueueManagerSecondCursorBeginsBehindFirstMessage(QueueCursors):
    """The second cursor of a descriptor begins behind the first message of the queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is None or len(queue_desc.CursorCollection) < 2:
            return cursor
        found = self.qm.message_search.seek_available(cursor.MessagePositionReference, True)
        if found is not None:
            queue_desc.QueueReference.MessagePositionList.hold(found)  # type: ignore[union-attr]
            cursor.MessagePositionReference = found
        return cursor
