"""Faults of MS-MQDMPR 3.1.7.1.25 Check Directory Online that only special cases reveal: several queues, and single
attributes.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import Publishing


@fault("directory-online-check-updates-first-queue-only", breaks="MQDMPR-3.1.7.1.25-12")
class FirstQueueUpdated(Publishing):
    """When the directory is available again, the queue manager reads the object of only its first public queue."""

    def update_public_queues(self) -> None:
        others = self._list_public_queues()[1:]
        kept = [(queue, queue.Label, queue.Quota, queue.Journaling) for queue in others]
        super().update_public_queues()
        for queue, label, quota, journaling in kept:
            queue.Label, queue.Quota, queue.Journaling = label, quota, journaling


@fault("directory-online-check-updates-label-only", breaks="MQDMPR-3.1.7.1.25-18")
class LabelUpdatedOnly(Publishing):
    """When the directory is available again, the queue manager stores only the Label of its public queues."""

    def update_public_queues(self) -> None:
        kept = [(queue, queue.Quota, queue.JournalQuota, queue.BasePriority) for queue in self._list_public_queues()]
        super().update_public_queues()
        for queue, quota, journal_quota, priority in kept:
            queue.Quota, queue.JournalQuota, queue.BasePriority = quota, journal_quota, priority
