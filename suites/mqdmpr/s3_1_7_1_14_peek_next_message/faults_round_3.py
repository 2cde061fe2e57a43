"""Faults that break rules of MS-MQDMPR 3.1.7.1.14 Peek Next Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("queue-manager-peek-next-after-removed-message-begins-again", breaks="MQDMPR-3.1.7.1.14-08", blind=True)
class QueueManagerPeekNextAfterRemovedMessageBeginsAgain(Reading):
    """If the message at a cursor was removed from the queue, a peek at the next message returns the first message of
    the queue.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        at = cursor.MessagePositionReference
        if isinstance(at, MessagePosition) and at.State is MessagePositionState.DELETED:
            self.qm.cursors.rewind(cursor)
        super().peek_next_message(queue_desc, answered, now, cursor, timeout_ms, tag)


@fault("queue-manager-pending-peek-next-fails-for-urgent-message", breaks="MQDMPR-3.1.7.1.14-29", blind=True)
class QueueManagerPendingPeekNextFailsForUrgentMessage(Reading):
    """A pending peek at the next message returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED if the message that arrives has a
    higher priority than the message at the cursor.
    """

    def peek_next_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        cursor: Cursor,
        timeout_ms: int | None = None,
        tag: Hashable | None = None,
    ) -> None:
        at, pending = cursor.MessagePositionReference, False

        def refuse_urgent_message(status: Status, position: MessagePosition | None) -> None:
            urgent = (
                position is not None
                and isinstance(at, MessagePosition)
                and position.MessageReference.Priority > at.MessageReference.Priority
            )
            if pending and urgent:
                answered(Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None)
            else:
                answered(status, position)

        super().peek_next_message(queue_desc, refuse_urgent_message, now, cursor, timeout_ms, tag)
        pending = True
