"""Faults of round five that break rules of MS-MQDMPR 3.1.1.1 QueueManager."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.commands.configuring import Configuring
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-journal-quota-set-with-queue-manager-quota", breaks="MQDMPR-3.1.1.1-D01", blind=True)
class QueueManagerJournalQuotaSetWithQueueManagerQuota(Configuring):
    """The queue manager sets JournalQuota to the value of QueueManagerQuota when an administrator sets only
    QueueManagerQuota.
    """

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        if (
            request.quota_kb is not None
            and request.journal_quota_kb is None
            and self.qm.adm.JournalQuota == UNLIMITED_QUOTA_KB
        ):
            request = replace(request, journal_quota_kb=request.quota_kb)
        return super().configure(request, token, now)
