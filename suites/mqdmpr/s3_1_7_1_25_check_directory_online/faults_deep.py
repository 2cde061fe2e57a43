"""Faults of MS-MQDMPR 3.1.7.1.25 Check Directory Online that only special cases reveal: several queues, and single
attributes.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
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


@fault("directory-online-check-updates-quota-to-lower-value-only", breaks="MQDMPR-3.1.7.1.25-10", blind=True)
class HigherQuotaIgnored(DirectoryClient):
    """When the directory is available again, the queue manager ignores its new QueueManagerQuota if it is higher."""

    def _take_over_attributes(self) -> None:
        before = self.qm.adm.QueueManagerQuota
        super()._take_over_attributes()
        self.qm.adm.QueueManagerQuota = min(before, self.qm.adm.QueueManagerQuota)


@fault("directory-online-check-keeps-label-of-transactional-queue", breaks="MQDMPR-3.1.7.1.25-18", blind=True)
class TransactionalKept(Publishing):
    """When the directory is available again, the queue manager keeps the old attributes of transactional queues."""

    def update_public_queues(self) -> None:
        kept = [(one, one.Label, one.Quota) for one in self._list_public_queues() if one.Transactional]
        super().update_public_queues()
        for queue, label, quota in kept:
            queue.Label, queue.Quota = label, quota
