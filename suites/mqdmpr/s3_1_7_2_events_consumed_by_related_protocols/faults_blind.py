"""Faults of MS-MQDMPR 3.1.7.2.1, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import CursorState


@fault("purge-resets-cursor-at-purged-message", breaks="MQDMPR-3.1.7.2.1-04", blind=True)
class PurgeResetsCursorAtPurgedMessage(Positions):
    """When a purge deletes the message of a cursor, the cursor moves to the start of the queue, so reads by the cursor
    do not report that its message was deleted.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
                for cursor in descriptor.CursorCollection.values():
                    if cursor.MessagePositionReference is position:
                        self.qm.cursors.rewind(cursor)
                        cursor.CursorState = CursorState.UNREAD
        super().delete_message(position, reason)
