"""Faults that follow another possible meaning of an unclear passage about cursors than the one that the project chose
(an erratum).
"""

from __future__ import annotations

from harness.faults.parts import follows_reading_of_erratum
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState


@follows_reading_of_erratum("E180.2")
class CursorUnreadAfterTimedOutRead(QueueCursors):
    """A cursor whose pending read timed out counts as a cursor that has read no message, even if the read was
    a peek.
    """

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        super().on_read_wait_expired(cursor)
        cursor.CursorState = CursorState.UNREAD
