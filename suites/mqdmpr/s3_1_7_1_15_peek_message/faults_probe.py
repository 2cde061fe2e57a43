"""Faults of MS-MQDMPR 3.1.7.1.15 Peek Message, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("queue-manager-peek-of-prioritized-message-times-out", breaks="MQDMPR-3.1.7.1.15-59", blind=True)
class QueueManagerPeekOfPrioritizedMessageTimesOut(Reading):
    """A peek without a cursor returns MQ_ERROR_IO_TIMEOUT when the message that it finds has a nonzero priority."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if cursor is None and queue_desc.QueueReference is not None:
            found = self.qm.seeking.seek_available(queue_desc.QueueReference.MessagePositionList.Start, True)
            if found is not None and found.MessageReference.Priority:
                answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
