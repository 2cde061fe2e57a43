"""Faults that break rules of MS-MQDMPR 3.1.7.1.3 Create Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.queue_names import parse_path
from reference_qm.core.queueing.queues import Queues
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status

LONGEST_SUBQUEUE_NAME = 32


@fault("queue-manager-long-subqueue-name-shortened", breaks="MQDMPR-3.1.7.1.3-05", blind=True)
class QueueManagerLongSubqueueNameShortened(Queues):
    """The queue manager shortens the name of a new subqueue to 32 characters instead of refusing it."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        base, semicolon, subqueue = queue.Pathname.partition(";")
        shortened = base + semicolon + subqueue[:LONGEST_SUBQUEUE_NAME]
        if parse_path(queue.Pathname) is None and semicolon and parse_path(shortened) is not None:
            queue.Pathname = shortened
        return super().create_here(queue, utc_s)
