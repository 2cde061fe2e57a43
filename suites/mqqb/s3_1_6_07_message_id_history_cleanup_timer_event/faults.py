"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import add
from reference_qm.core.transfer.history import History
from reference_qm.surface.clock import Now

add(
    "receiver-history-entries-never-deleted",
    ("MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02"),
    "The receiver never deletes an entry of MessageIDHistoryTable.",
    skip(History.on_history_timer),
)
add(
    "receiver-history-timer-not-restarted",
    "MQQB-3.1.6.7-03",
    "The receiver does not restart the MessageIDHistory Cleanup Timer after its first expiry.",
    skip_during(History.on_history_timer, History.start_history_timer),
)


@fault("receiver-history-entries-all-deleted-at-expiry", breaks="MQQB-3.1.6.7-02")
class ReceiverHistoryEntriesAllDeletedAtExpiry(History):
    """The receiver deletes all entries of MessageIDHistoryTable when the MessageIDHistory Cleanup Timer expires."""

    def on_history_timer(self, now: Now) -> None:
        for entry in self.qm.adm.MessageIDHistoryTable:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        super().on_history_timer(now)
