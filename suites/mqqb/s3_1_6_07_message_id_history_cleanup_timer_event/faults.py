"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import add
from reference_qm.core.transfer.history import History
from reference_qm.surface.clock import Now

add(
    "history-kept",
    ("MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02"),
    "No entry is ever deleted.",
    skip(History.on_history_timer),
)
add(
    "history-timer-runs-once",
    "MQQB-3.1.6.7-03",
    "The MessageIDHistory Cleanup Timer does not run again.",
    skip_during(History.on_history_timer, History.start_history_timer),
)


@fault("history-forgotten-at-once", breaks="MQQB-3.1.6.7-02")
class HistoryForgottenAtOnce(History):
    """The MessageIDHistory Cleanup Timer deletes all entries."""

    def on_history_timer(self, now: Now) -> None:
        for entry in self.qm.adm.MessageIDHistoryTable:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        super().on_history_timer(now)
