"""Faults of MS-MQSO 6.4 Timers."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.directory import DirectoryOperationResult
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

LONGEST_TIMER_MS = 0x7FFFFFFF


@fault("directory-timer-runs-in-workgroup-mode", breaks="MQSO-6.4.1-D01")
class DirectoryTimerRunsInWorkgroupMode(DirectoryClient):
    """A queue manager in workgroup mode runs the Directory Sites Update Timer."""

    def initialize(self, now: Now) -> None:
        super().initialize(now)
        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)


add(
    "public-key-cache-never-expires",
    ("MQSO-6.4.3.2-D01", "MQSO-6.4.3.2-D02"),
    "The queue manager never removes a cached public key.",
    skip(SecurityLookup.on_public_key_cache_timer),
)


@fault("public-key-cache-timer-not-restarted", breaks="MQSO-6.4.3.2-D02")
class PublicKeyCacheTimerNotRestarted(SecurityLookup):
    """The timer of a public key starts only when the key is cached for the first time, not when it is cached again."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        super().on_public_key_cache_timer(owner)
        self.qm.settings = replace(self.qm.settings, public_key_cache_ms=LONGEST_TIMER_MS)


@fault("directory-timer-runs-after-start-without-directory", breaks="MQSO-6.4.1-D01")
class DirectoryTimerRunsAfterStartWithoutDirectory(DirectoryClient):
    """A queue manager that is in workgroup mode, because it found no directory at its start, runs the Directory Sites
    Update Timer.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)
