"""Faults of MS-MQSO 6.4 Timers."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.protocol.enterprise import DirectoryClient
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("so-directory-timers-without-directory", breaks="MQSO-6.4.1-D01")
class DirectoryTimersWithoutDirectory(DirectoryClient):
    """A queue manager in workgroup mode looks for its sites time after time."""

    def initialize(self, now: Now) -> None:
        super().initialize(now)
        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)


BROKEN_ELSEWHERE = {
    "MQSO-6.4.3.1-D01": (
        "certificate-cleanup-does-nothing",
        "certificate-cleanup-keeps-all",
    ),
    "MQSO-6.4.3.1-D02": ("certificate-cleanup-by-the-youngest",),
    "MQSO-6.4.4.1-01": ("so-no-second-attempt-to-start",),
    "MQSO-6.4.4.1-D01": ("so-no-second-attempt-to-start",),
}
