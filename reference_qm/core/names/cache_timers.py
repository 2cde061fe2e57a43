from __future__ import annotations

from collections.abc import Mapping

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

CACHE_NAME_BY_TIMER: Mapping[TimerName, str] = {
    TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP: "ReceiveSymmetricKeyCache",
    TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP: "SendSymmetricKeyCache",
    TimerName.SEND_BASE_SYMMETRIC_KEY_CACHE_CLEANUP: "SendBaseSymmetricKeyCache",
    TimerName.USER_CERT_CACHE_CLEANUP: "UserCertCache",
}


class CacheTimers(QueueManagerPart):
    """Starts the cleanup timers of the security caches, and handles their expiry. Spec: MS-MQQB 3.1.2.10 to 3.1.2.13,
    3.1.6.10 to 3.1.6.13.
    """

    __slots__ = ()

    def start(self, now: Now) -> None:
        """Start the cleanup timer of every cache that has entries and no running timer. Spec: MS-MQQB 3.1.5.8.3,
        3.1.7.1.5.
        """
        for name, attribute in CACHE_NAME_BY_TIMER.items():
            cache = getattr(self.qm.caches, attribute)
            if len(cache) and cache.lifetime_ms is not None and not self.qm.timers.is_running(TimerKey(name, 0)):
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, cache.lifetime_ms // self.qm.settings.scale)

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        """Delete the expired entries of a cache. Spec: MS-MQQB 3.1.6.10 to 3.1.6.13."""
        again_ms = getattr(self.qm.caches, CACHE_NAME_BY_TIMER[name]).delete_old_entries(now, self.qm.settings.scale)
        if again_ms is not None:
            self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, again_ms)
