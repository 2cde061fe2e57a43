"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.15 Peek Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.directory.enums import QueueType
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("queue-manager-peek-at-journal-message-of-its-queue-returned", breaks="MQDMPR-3.1.7.1.15-06", blind=True)
class QueueManagerPeekAtJournalMessageOfItsQueueReturned(MessageReading):
    """A peek without a cursor at the journal of a queue returns the first message of the queue, if there is one."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if cursor is None and queue is not None and queue.QueueType is QueueType.SYSTEM and queue.parent is not None:
            position = self.qm.message_search.seek_available(queue.parent.MessagePositionList.Start, True)
            if position is not None:
                answered(Status.MQ_OK, position)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)
