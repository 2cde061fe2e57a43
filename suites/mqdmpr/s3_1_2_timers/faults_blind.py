"""Faults of MS-MQDMPR 3.1.2.5, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("directory-online-timer-doubled-after-failed-contact", breaks="MQDMPR-3.1.2.5-01", blind=True)
class DirectoryOnlineTimerDoubledAfterFailedContact(DirectoryClient):
    """After a request that the directory does not answer, the Directory Online Timer runs for two minutes."""

    def on_directory_online_timer(self, now: Now) -> None:
        super().on_directory_online_timer(now)
        duration_ms = 2 * self.qm.settings.directory_online_ms // self.qm.settings.scale
        self.qm.timers.start(TimerKey(TimerName.DIRECTORY_ONLINE, 0), now.monotonic_ms, duration_ms)
