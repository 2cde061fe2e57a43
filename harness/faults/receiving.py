"""Faults of the cleanup of the history. Spec: MS-MQQB 3.1.2.8."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.surface.clock import Now


@fault("history-cleanup-not-configured", breaks="MQQB-3.1.2.8-01")
class CleanupNotConfigured(Initialization):
    """The MessageIDHistory Cleanup Timer runs for half an hour, whatever is configured."""

    def start_history_timer(self, now: Now) -> None:
        kept = self.qm.settings
        self.qm.settings = replace(kept, message_id_history_cleanup_ms=1_800_000)
        super().start_history_timer(now)
        self.qm.settings = kept
