"""Faults that break rules of MS-MQDMPR 3.1.7.2 Events Consumed by Related Protocols, written without knowledge of the
checks.
"""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState


class _ExpiredPositionsRecorder(MessagePositions):
    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            vars(self).setdefault("expired_positions", set()).add(position)
        super().delete_message(position, reason)


class _ExpiredMessageSkipper(QueueCursors):
    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        expired = vars(self.qm.message_positions).get("expired_positions", ())
        if cursor.CursorState is CursorState.READ and cursor.MessagePositionReference in expired:
            cursor.CursorState = CursorState.UNREAD
        return super().get_message_for_peek(cursor)


add(
    "queue-manager-peek-by-cursor-at-expired-message-next-message-returned",
    "MQDMPR-3.1.7.2.1-04",
    "When the message of a cursor was deleted because it expired, a peek by the cursor returns the next message.",
    combine_installers(replace_part(_ExpiredPositionsRecorder), replace_part(_ExpiredMessageSkipper)),
    blind=True,
)
