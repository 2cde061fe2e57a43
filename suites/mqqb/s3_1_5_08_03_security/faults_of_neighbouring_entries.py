"""Faults in the caches of the receiver when a later key or certificate arrives (MS-MQQB 3.1.5.8.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache


class _CacheThatFindsOnlyNewestEntry(AnyTimedCache):
    """A cache in which only the newest entry is found."""

    def find(self, matches: Callable[[Any], bool]) -> Any:
        return next((entry for entry in self.entries[-1:] if matches(entry)), None)


class _CacheOfOneKeyPerQueueManager(AnyTimedCache):
    """A cache that does not store a second key of the same queue manager."""

    def add(self, entry: Any) -> None:
        if all(kept.RemoteQMGuid != entry.RemoteQMGuid for kept in self.entries):
            super().add(entry)


add(
    "receiver-receive-symmetric-key-cache-only-newest-key-used",
    "MQQB-3.1.5.8.3-55",
    "The receiver uses only the newest key in ReceiveSymmetricKeyCache.",
    replace_cache("ReceiveSymmetricKeyCache", _CacheThatFindsOnlyNewestEntry),
    blind=True,
)
