"""Faults of MS-MQQB 3.1.3.1 Global Initialization, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-history-timer-not-started-for-outdated-history", breaks="MQQB-3.1.3.1-07", blind=True)
class ReceiverHistoryTimerNotStartedForOutdatedHistory(Initialization):
    """The receiver does not start the MessageIDHistory Cleanup Timer when all stored entries are already outdated."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        oldest_s = now.utc_s - self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 1000
        if all(entry.TimeStamp < oldest_s for entry in self.qm.adm.MessageIDHistoryTable):
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


def _take_long_lifetime(qm: QueueManager) -> None:
    settings = qm.caches.settings
    qm.caches.configure(replace(settings, SymmetricKeyShortLifetime=settings.SymmetricKeyLongLifetime))


add(
    "any-symmetric-key-short-lifetime-long-after-restart",
    "MQQB-3.1.3.1-17",
    "After a restart the queue manager uses SymmetricKeyLongLifetime as SymmetricKeyShortLifetime.",
    at_restart(_take_long_lifetime),
    blind=True,
)
