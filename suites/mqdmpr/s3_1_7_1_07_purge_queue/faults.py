"""Faults of MS-MQDMPR 3.1.7.1.7 Purge Queue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.commands import Result


@fault("purge-messages-vanish", breaks="MQDMPR-3.1.7.1.7-07")
class MessagesVanish(Queues):
    """The messages of a queue that is purged are gone, and nobody hears of it."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for position in list(queue.MessagePositionList):
            if position.State is MessagePositionState.AVAILABLE:
                queue.MessagePositionList.remove(position)
        return super().purge(queue, token, done, failed)


BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.1.7-05": ("remote-purge-undone-by-nack",),
}
"""Faults of other sections that break rules of this one."""
