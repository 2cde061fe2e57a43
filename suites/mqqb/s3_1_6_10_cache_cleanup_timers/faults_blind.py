"""Faults of MS-MQQB 3.1.6.10 to 3.1.6.13, the cleanup timers of caches, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.part import QM
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security.caches import MS_PER_MINUTE
from reference_qm.surface.clock import Now


@fault("receiver-user-cert-cache-second-cleanup-restarts-with-whole-lifetime", breaks="MQQB-3.1.6.13-04", blind=True)
class ReceiverUserCertCacheSecondCleanupRestartsWithWholeLifetime(CacheTimers):
    """At the second and each later expiry of the cleanup timer of UserCertCache, the receiver restarts the timer
    without subtracting the age of the oldest entry.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.cleanups = 0

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        super().on_cleanup_timer(name, now)
        if name is not TimerName.USER_CERT_CACHE_CLEANUP:
            return
        self.cleanups += 1
        key, lifetime_ms = TimerKey(name, 0), self.qm.caches.UserCertCache.lifetime_ms
        if self.cleanups > 1 and lifetime_ms is not None and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, (lifetime_ms + MS_PER_MINUTE) // self.qm.settings.scale)
