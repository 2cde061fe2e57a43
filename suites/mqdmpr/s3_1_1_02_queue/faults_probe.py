"""Faults of MS-MQDMPR 3.1.1.2 Queue, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.position_list import Entry
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class PurgedMessagePeeked(Reading):
    """After a purge, a peek at the empty queue returns the message that was the first of the queue before the purge."""

    old_heads: tuple[tuple[Entry, MessagePosition], ...] = ()

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is not None and cursor is None:
            start = queue_desc.QueueReference.MessagePositionList.Start
            head = next((head for one, head in self.old_heads if one is start), None)
            if head is not None and self.qm.seeking.seek_available(start, True) is None:
                answered(Status.MQ_OK, head)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


class HeadKeptByPurge(Queues):
    """A purge does not reset the position of the first message of the queue, so a later peek at the empty queue returns
    the purged message.
    """

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        start = queue.MessagePositionList.Start
        head = self.qm.seeking.seek_available(start, True)
        if head is not None:
            self.qm.reading.old_heads += ((start, head),)  # type: ignore[attr-defined]
        return super().purge(queue, token, done, failed)


add(
    "queue-manager-head-of-purged-queue-not-end",
    "MQDMPR-3.1.1.2-21",
    "After a purge, the Head of the queue still refers to a purged message, which a peek then returns.",
    both(replace_part(PurgedMessagePeeked), replace_part(HeadKeptByPurge)),
    blind=True,
)
