"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event: with several entries and at later expiries."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.surface.clock import Now


@fault("receiver-history-cleanup-removes-one-entry-per-expiry", breaks=("MQQB-3.1.6.7-02", "MQQB-3.1.6.7-01"))
class ReceiverHistoryCleanupRemovesOneEntryPerExpiry(MessageHistory):
    """The receiver removes only the oldest history entry when the MessageIDHistory Cleanup Timer expires."""

    def on_history_timer(self, now: Now) -> None:
        table = self.qm.adm.MessageIDHistoryTable
        others = list(table)[1:]
        super().on_history_timer(now)
        for entry in others:
            table.insert(entry)
        if others:
            self.start_history_timer(now)


@fault("receiver-history-cleanup-timer-restarted-only-once", breaks="MQQB-3.1.6.7-03")
class ReceiverHistoryCleanupTimerRestartedOnlyOnce(MessageHistory):
    """The receiver restarts the MessageIDHistory Cleanup Timer only at its first expiry."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._starts = 0

    def start_history_timer(self, now: Now) -> None:
        self._starts += 1
        if self._starts <= 2:
            super().start_history_timer(now)
