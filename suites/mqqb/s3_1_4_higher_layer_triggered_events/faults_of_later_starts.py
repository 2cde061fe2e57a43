"""Faults that break MQQB-3.1.4.1-01: some elements are not initialized when a queue manager starts again."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("restarted-queue-manager-resend-timer-table-has-one-entry", breaks="MQQB-3.1.4.1-01", blind=True)
class RestartedQueueManagerResendTimerTableHasOneEntry(QueueManagerInitialization):
    """The queue manager initializes ResendTimerTable with a single entry after a restart."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        if self.qm.disk.used:
            self.qm.adm.ResendTimerTable = self.qm.adm.ResendTimerTable[:1]


@fault("restarted-queue-manager-ping-cookie-not-0", breaks="MQQB-3.1.4.1-01", blind=True)
class RestartedQueueManagerPingCookieNot0(QueueManagerInitialization):
    """The queue manager initializes PingCookie with 1000 after a restart."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        if self.qm.disk.used:
            self.qm.adm.PingCookie = 1_000


@fault("restarted-queue-manager-history-timer-stopped", breaks="MQQB-3.1.4.1-01", blind=True)
class RestartedQueueManagerHistoryTimerStopped(QueueManagerInitialization):
    """The queue manager does not start the MessageIDHistory Cleanup Timer when it starts with a stored history."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
