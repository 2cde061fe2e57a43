"""Faults of round five that break rules of MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.position_list import Boundary
from reference_qm.model.statuses import CursorStatus


@fault("queue-manager-search-of-second-receive-by-cursor-backward", breaks="MQDMPR-3.1.7.3.2-03", blind=True)
class QueueManagerSearchOfSecondReceiveByCursorBackward(QueueCursors):
    """After a receive by a cursor, the queue manager searches the message for the next receive by this cursor backward,
    if there is a message before the cursor.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        place = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.UNREAD and not isinstance(place, Boundary):
            earlier = self.qm.message_search.seek_available(place, False, SeekDirection.BACKWARD)
            if earlier is not None:
                return CursorStatus.SUCCEEDED, earlier
        return super().get_next_message_for_dequeue(cursor, no_wait)
