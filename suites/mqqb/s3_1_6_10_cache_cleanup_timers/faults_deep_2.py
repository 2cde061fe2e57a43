"""Faults of MS-MQQB 3.1.6.10 to 3.1.6.13: cleanups of several entries, and second cleanups."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.timed_caches import Cache, replace_cache
from reference_qm.security.caches import MS_PER_MINUTE
from reference_qm.surface.clock import Now


class _CleanupDeletesOneEntry(Cache):
    """Delete only one old entry in each cleanup of a cache."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        before = list(self.entries)
        again_ms = super().delete_old_entries(now, scale)
        gone = [entry for entry in before if entry not in self.entries]
        self.entries[:0] = gone[1:]
        assert self.lifetime_ms is not None
        return again_ms if not gone[1:] else (self.lifetime_ms + MS_PER_MINUTE) // scale


class _CleanupDeletesAllEntriesOfOwner(Cache):
    """When an entry of a cache is old, delete all entries of the queue manager of that entry."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        before = list(self.entries)
        super().delete_old_entries(now, scale)
        owners = {entry.RemoteQMGuid for entry in before if entry not in self.entries}
        self.entries = [entry for entry in self.entries if entry.RemoteQMGuid not in owners]
        return super().delete_old_entries(now, scale)


class _NextCleanupByNewestEntry(Cache):
    """Compute the next cleanup of a cache from the newest entry."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        if super().delete_old_entries(now, scale) is None or self.lifetime_ms is None:
            return None
        newest_ms = 1000 * max(entry.CachedTime for entry in self.entries)
        return (self.lifetime_ms + MS_PER_MINUTE) // scale - (1000 * now.utc_s - newest_ms)


class _LaterCleanupsWithoutMinute(Cache):
    """Omit the minute from the duration of the timer after the second and later cleanups of a cache."""

    cleaned = 0

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        self.cleaned += 1
        return None if again_ms is None else again_ms - MS_PER_MINUTE // scale * (self.cleaned > 1)


add(
    "receiver-receive-key-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.10-02",
    "The receiver deletes only one old entry of ReceiveSymmetricKeyCache at an expiry of the cleanup timer.",
    replace_cache("ReceiveSymmetricKeyCache", _CleanupDeletesOneEntry),
    blind=True,
)
add(
    "receiver-receive-key-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.10-03",
    "The receiver computes the next cleanup of ReceiveSymmetricKeyCache from the newest of the remaining entries.",
    replace_cache("ReceiveSymmetricKeyCache", _NextCleanupByNewestEntry),
    blind=True,
)
add(
    "receiver-receive-key-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.10-04",
    "The receiver omits the minute from the duration of the timer of ReceiveSymmetricKeyCache at the second restart.",
    replace_cache("ReceiveSymmetricKeyCache", _LaterCleanupsWithoutMinute),
    blind=True,
)
add(
    "sender-send-key-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.11-02",
    "The sender deletes only one old entry of SendSymmetricKeyCache at an expiry of the cleanup timer.",
    replace_cache("SendSymmetricKeyCache", _CleanupDeletesOneEntry),
    blind=True,
)
add(
    "sender-send-key-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.11-03",
    "The sender computes the next cleanup of SendSymmetricKeyCache from the newest of the remaining entries.",
    replace_cache("SendSymmetricKeyCache", _NextCleanupByNewestEntry),
    blind=True,
)
add(
    "sender-send-key-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.11-04",
    "The sender omits the minute from the duration of the timer of SendSymmetricKeyCache at the second restart.",
    replace_cache("SendSymmetricKeyCache", _LaterCleanupsWithoutMinute),
    blind=True,
)
add(
    "receiver-user-certificate-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.13-02",
    "The receiver deletes only one old entry of UserCertCache at an expiry of the cleanup timer.",
    replace_cache("UserCertCache", _CleanupDeletesOneEntry),
    blind=True,
)
add(
    "receiver-user-certificate-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.13-03",
    "The receiver computes the next cleanup of UserCertCache from the newest of the remaining entries.",
    replace_cache("UserCertCache", _NextCleanupByNewestEntry),
    blind=True,
)
add(
    "receiver-user-certificate-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.13-04",
    "The receiver omits the minute from the duration of the timer of UserCertCache at the second restart.",
    replace_cache("UserCertCache", _LaterCleanupsWithoutMinute),
    blind=True,
)
add(
    "receiver-receive-key-cache-cleanup-deletes-all-keys-of-the-sender",
    "MQQB-3.1.6.10-02",
    "The receiver deletes the younger keys of a sender together with the sender's old key.",
    replace_cache("ReceiveSymmetricKeyCache", _CleanupDeletesAllEntriesOfOwner),
    blind=True,
)
