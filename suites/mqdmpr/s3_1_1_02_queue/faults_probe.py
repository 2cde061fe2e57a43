"""Faults of MS-MQDMPR 3.1.1.2 of the probe, written without reading the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.surface.commands import Result


class OldHeadAfterPurge(Seeking):
    """A peek at an empty queue finds the message that was at the head before the purge."""

    old_heads: tuple[tuple[Entry, MessagePosition], ...] = ()

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None and peek_operation and isinstance(initial_position, Boundary):
            return next((head for start, head in self.old_heads if start is initial_position), None)
        if found is not None:
            self.old_heads = tuple(one for one in self.old_heads if one[0] is not initial_position)
        return found


class HeadKeptByPurge(Queues):
    """A purge does not reset the head of the queue."""

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
            self.qm.seeking.old_heads += ((start, head),)  # type: ignore[attr-defined]
        return super().purge(queue, token, done, failed)


add(
    "queue-manager-head-of-purged-queue-not-end",
    "MQDMPR-3.1.1.2-21",
    "After a purge of a queue, its Head still refers to the purged message, and a peek at the empty queue finds it.",
    both(replace_part(OldHeadAfterPurge), replace_part(HeadKeptByPurge)),
    blind=True,
)
