"""Blind violations of round five: MS-MQQB 3.1.6.10 to 3.1.6.13, the cleanup timers of the caches."""

from __future__ import annotations

from typing import Any

from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.security.caches import MS_PER_MINUTE, TimedCache
from reference_qm.surface.clock import Now


class CacheFindingOldestEntryBeforeDeletion(TimedCache[Any]):
    """A cache that computes its next cleanup from the entry that was the oldest before the deletion of old entries."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        oldest_ms = 1000 * min((entry.CachedTime for entry in self.entries), default=now.utc_s)
        correct_ms = super().delete_old_entries(now, scale)
        if correct_ms is None or self.lifetime_ms is None:
            return None
        next_ms = (self.lifetime_ms + MS_PER_MINUTE) // scale - (1000 * now.utc_s - oldest_ms)
        return max(next_ms, MS_PER_MINUTE // scale)


class CacheWithOldestEntryOfFirstCleanup(TimedCache[Any]):
    """A cache that computes every cleanup from the entry that was the oldest at the first cleanup."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        correct_ms = super().delete_old_entries(now, scale)
        if correct_ms is None or self.lifetime_ms is None:
            self.__dict__.pop("oldest_s", None)
            return None
        oldest_s: int = self.__dict__.setdefault("oldest_s", min(entry.CachedTime for entry in self.entries))
        next_ms = (self.lifetime_ms + MS_PER_MINUTE) // scale - 1000 * (now.utc_s - oldest_s)
        return max(next_ms, MS_PER_MINUTE // scale)


add(
    "receiver-certificate-cleanup-computed-from-deleted-entry",
    "MQQB-3.1.6.13-03",
    "The receiver computes the next cleanup of UserCertCache from the entry that was the oldest before the cleanup, "
    "even if the cleanup deleted this entry.",
    replace_cache("UserCertCache", CacheFindingOldestEntryBeforeDeletion),
    blind=True,
)

add(
    "receiver-received-key-cleanup-computed-from-oldest-entry-of-first-cleanup",
    "MQQB-3.1.6.10-03",
    "The receiver computes every cleanup of ReceiveSymmetricKeyCache after the first cleanup from the entry that was "
    "the oldest at the first cleanup.",
    replace_cache("ReceiveSymmetricKeyCache", CacheWithOldestEntryOfFirstCleanup),
    blind=True,
)
