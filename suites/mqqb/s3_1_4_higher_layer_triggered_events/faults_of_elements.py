"""Faults that break rules of MS-MQQB 3.1.4.1 in one element of the global initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.surface.clock import Now


@fault(
    "queue-manager-start-omits-last-entry-of-resend-timer-table",
    breaks=("MQQB-3.1.4.1-01", "MQQB-3.1.3.1-05"),
    blind=True,
)
class QueueManagerStartOmitsLastEntryOfResendTimerTable(QueueManagerInitialization):
    """A queue manager initializes ResendTimerTable without its last entry when it starts."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.ResendTimerTable = self.qm.adm.ResendTimerTable[:-1]
