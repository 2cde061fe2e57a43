"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.3 Create Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.model.adm import Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.statuses import Status


@fault("queue-manager-new-queue-journal-quota-0-not-used", breaks="MQDMPR-3.1.7.1.3-11", blind=True)
class QueueManagerNewQueueJournalQuota0NotUsed(QueueLifecycle):
    """A new queue for which its creator supplies the JournalQuota 0 has the default JournalQuota."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.JournalQuota == 0:
            queue.JournalQuota = UNLIMITED_QUOTA_KB
        return super().create_without_directory(queue, utc_s)
