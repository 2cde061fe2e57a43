"""Faults that break rules of MS-MQDMPR 3.1.7.1.15 Peek Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("queue-manager-peek-of-locked-messages-ends-at-once", breaks="MQDMPR-3.1.7.1.15-44", blind=True)
class QueueManagerPeekOfLockedMessagesEndsAtOnce(Reading):
    """A peek at a queue that has only locked messages does not wait, but ends at once with MQ_ERROR_IO_TIMEOUT."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if cursor is None and queue is not None:
            positions = queue.MessagePositionList
            readable = self.qm.seeking.seek_available(positions.Start, True)
            if readable is None and any(
                one.State is MessagePositionState.LOCKED and not one.awaits_disk for one in positions
            ):
                answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
