"""Faults of MS-MQSO 5.1.1.2 Queues and Queue States that only some values of messages, queues or reads reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.attributes import UNLIMITED
from reference_qm.model.elements import Cursor
from reference_qm.model.statuses import CursorStatus


@fault("receive-by-cursor-returns-last-message", breaks="MQSO-5.1.1.2-D01")
class ReceiveByCursorReturnsLastMessage(Cursors):
    """A receive by a cursor returns the last message of the queue."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        status, position = super().get_next_message_for_dequeue(cursor, no_wait)
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        if status is not CursorStatus.SUCCEEDED or queue is None:
            return status, position
        *_, last = queue.MessagePositionList
        return status, last


@fault("pending-receive-of-journaling-queue-with-quota-gets-no-message", breaks="MQSO-5.1.1.2-D03")
class PendingReceiveOfJournalingQueueWithQuotaGetsNoMessage(Waiting):
    """A pending receive gets no message that arrives in a queue with both a quota and journaling."""

    def release_readers(self, position: MessagePosition) -> None:
        queue = position.QueueReference
        if queue.Quota == UNLIMITED or not queue.Journaling:
            super().release_readers(position)
