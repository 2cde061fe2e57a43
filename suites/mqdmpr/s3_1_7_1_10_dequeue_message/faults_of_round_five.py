"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.10 Dequeue Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-receive-by-cursor-message-of-higher-priority-returned", breaks="MQDMPR-3.1.7.1.10-15", blind=True)
class QueueManagerReceiveByCursorMessageOfHigherPriorityReturned(MessageReading):
    """A receive by a cursor returns the first message of the queue instead of the message at the cursor, if the first
    message has a higher priority.
    """

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if cursor is not None and queue is not None:
            place = cursor.MessagePositionReference
            first = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
            if (
                first is not None
                and isinstance(place, MessagePosition)
                and first.MessageReference.Priority > place.MessageReference.Priority
            ):
                cursor = None
        super().dequeue_message(
            queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read=two_phase_read, transaction=transaction
        )
