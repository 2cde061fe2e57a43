"""The cleanup timers of the security caches. Spec: MS-MQQB 3.1.2.10 to 3.1.2.13, 3.1.6.10 to 3.1.6.13."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reference_qm.model.timers import TimerKey, TimerName

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now

CACHE_TIMERS: Mapping[TimerName, str] = {
    TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP: "ReceiveSymmetricKeyCache",
    TimerName.SEND_SYMMETRIC_KEY_CACHE_CLEANUP: "SendSymmetricKeyCache",
    TimerName.SEND_BASE_SYMMETRIC_KEY_CACHE_CLEANUP: "SendBaseSymmetricKeyCache",
    TimerName.USER_CERT_CACHE_CLEANUP: "UserCertCache",
}


def start_cleanup_timers(qm: QueueManager, now: Now) -> None:
    """Start the timer of every cache that has entries, unless it runs. Spec: MS-MQQB 3.1.5.8.3, 3.1.7.1.5."""
    for name, attribute in CACHE_TIMERS.items():
        cache = getattr(qm.caches, attribute)
        if len(cache) and cache.lifetime_ms is not None and not qm.timers.is_running(TimerKey(name, 0)):
            qm.timers.start(TimerKey(name, 0), now.monotonic_ms, cache.lifetime_ms // qm.settings.scale)


def on_cache_cleanup_timer(qm: QueueManager, name: TimerName, now: Now) -> None:
    """Delete the entries of a cache that are too old. Spec: MS-MQQB 3.1.6.10 to 3.1.6.13."""
    again_ms = getattr(qm.caches, CACHE_TIMERS[name]).clean(now, qm.settings.scale)
    if again_ms is not None:
        qm.timers.start(TimerKey(name, 0), now.monotonic_ms, again_ms)
