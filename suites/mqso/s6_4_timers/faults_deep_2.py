"""Faults of MS-MQSO 6.4: timers of several cache entries, and initializations that fail for another cause."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now


@fault("queue-manager-public-key-removed-from-cache-but-kept-by-session", breaks="MQSO-6.4.3.2-D01")
class QueueManagerPublicKeyRemovedFromCacheButKeptBySession(SecurityLookup):
    """A queue manager uses an expired public key again if the directory has another key at the next read."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        self.old = {**getattr(self, "old", {}), UUID(int=owner): self.qm.enterprise.public_keys.get(UUID(int=owner))}
        super().on_public_key_cache_timer(owner)

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        old = getattr(self, "old", {}).get(guid)
        return MqdsPublicKeys.parse(old) if old else super().find_public_keys(guid, now)


@fault("queue-manager-public-key-removed-only-once", breaks="MQSO-6.4.3.2-D01")
class QueueManagerPublicKeyRemovedOnlyOnce(SecurityLookup):
    """A queue manager removes a cached public key at the first expiry, but not a key that it cached again."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        if owner not in getattr(self, "removed", ()):
            self.removed = (*getattr(self, "removed", ()), owner)
            super().on_public_key_cache_timer(owner)


class RemovedOnlyOnce(TimedCache[Any]):
    """A cache that removes expired entries only once."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Remove the expired entries, but only the first time."""
        kept, before = list(self.entries), getattr(self, "done", False)
        again = super().delete_old_entries(now, scale)
        if before:
            self.entries = kept
        self.done = before or len(self.entries) < len(kept)
        return again


add(
    "queue-manager-certificates-removed-only-once",
    "MQSO-6.4.3.1-D01",
    "A queue manager removes expired certificates once; a certificate that it caches later stays.",
    replace_cache("UserCertCache", RemovedOnlyOnce),
)


class FirstEntryTimed(TimedCache[Any]):
    """A cache in which each entry has the time of the oldest entry."""

    def add(self, entry: Any) -> None:
        super().add(replace(entry, CachedTime=self.entries[0].CachedTime) if self.entries else entry)


add(
    "queue-manager-certificate-timer-of-first-certificate",
    "MQSO-6.4.3.1-D02",
    "The lifetime of each cached certificate begins when the oldest certificate enters the cache.",
    replace_cache("UserCertCache", FirstEntryTimed),
)
