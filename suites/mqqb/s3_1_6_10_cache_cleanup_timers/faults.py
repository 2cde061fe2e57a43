"""Faults that break the rules MQQB-3.1.6.10-01 to MQQB-3.1.6.13-04."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.part import QM
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security.caches import MS_PER_MINUTE
from reference_qm.surface.clock import Now

CERTIFICATE_CACHE_NAME = "UserCertCache"


RECEIVED_KEY_CACHE_NAME = "ReceiveSymmetricKeyCache"


SENT_KEY_CACHE_NAME = "SendSymmetricKeyCache"


class _CacheWithoutCleanup(AnyTimedCache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        return None


class _CacheCleanupKeepsAllEntries(AnyTimedCache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        kept = list(self.entries)
        again_ms = super().delete_old_entries(now, scale)
        self.entries = kept
        return again_ms


class _CacheCleanupDeletesAllEntries(AnyTimedCache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        self.entries.clear()
        return again_ms


class _NextCacheCleanupTimedByYoungestEntry(AnyTimedCache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (max(times_s) - min(times_s))


class _NextCacheCleanupAfterFullLifetime(AnyTimedCache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (now.utc_s - min(times_s))


for _name, _breaks, _says, _cache, _faulty in (
    # -- certificates ----------------------------------------------------------------------------------------------
    (
        "receiver-user-cert-cache-not-cleaned",
        ("MQQB-3.1.6.13-01", "MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The receiver does nothing when the cleanup timer of UserCertCache expires.",
        CERTIFICATE_CACHE_NAME,
        _CacheWithoutCleanup,
    ),
    (
        "receiver-user-cert-cache-expired-entries-kept",
        ("MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The receiver's cleanup of UserCertCache keeps expired entries.",
        CERTIFICATE_CACHE_NAME,
        _CacheCleanupKeepsAllEntries,
    ),
    (
        "receiver-user-cert-cache-young-entries-deleted",
        ("MQQB-3.1.6.13-02",),
        "The receiver's cleanup of UserCertCache also deletes entries that have not expired.",
        CERTIFICATE_CACHE_NAME,
        _CacheCleanupDeletesAllEntries,
    ),
    (
        "receiver-user-cert-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.13-03", "MQSO-6.4.3.1-D02"),
        "The receiver computes the next cleanup of UserCertCache from the youngest entry instead of the oldest.",
        CERTIFICATE_CACHE_NAME,
        _NextCacheCleanupTimedByYoungestEntry,
    ),
    (
        "receiver-user-cert-cache-timer-ignores-age",
        ("MQQB-3.1.6.13-04",),
        "The receiver restarts the cleanup timer of UserCertCache with a full lifetime.",
        CERTIFICATE_CACHE_NAME,
        _NextCacheCleanupAfterFullLifetime,
    ),
    # -- keys of received messages ---------------------------------------------------------------------------------
    (
        "receiver-symmetric-key-cache-not-cleaned",
        ("MQQB-3.1.6.10-01", "MQQB-3.1.6.10-02"),
        "The receiver does nothing when the cleanup timer of ReceiveSymmetricKeyCache expires.",
        RECEIVED_KEY_CACHE_NAME,
        _CacheWithoutCleanup,
    ),
    (
        "receiver-symmetric-key-cache-expired-entries-kept",
        ("MQQB-3.1.6.10-02",),
        "The receiver's cleanup of ReceiveSymmetricKeyCache keeps expired entries.",
        RECEIVED_KEY_CACHE_NAME,
        _CacheCleanupKeepsAllEntries,
    ),
    (
        "receiver-symmetric-key-cache-young-entries-deleted",
        ("MQQB-3.1.6.10-02",),
        "The receiver's cleanup of ReceiveSymmetricKeyCache also deletes entries that have not expired.",
        RECEIVED_KEY_CACHE_NAME,
        _CacheCleanupDeletesAllEntries,
    ),
    (
        "receiver-symmetric-key-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.10-03",),
        "The receiver computes the next cleanup of ReceiveSymmetricKeyCache from the youngest entry.",
        RECEIVED_KEY_CACHE_NAME,
        _NextCacheCleanupTimedByYoungestEntry,
    ),
    (
        "receiver-symmetric-key-cache-timer-ignores-age",
        ("MQQB-3.1.6.10-04",),
        "The receiver restarts the cleanup timer of ReceiveSymmetricKeyCache with a full lifetime.",
        RECEIVED_KEY_CACHE_NAME,
        _NextCacheCleanupAfterFullLifetime,
    ),
    # -- keys of sent messages -------------------------------------------------------------------------------------
    (
        "sender-symmetric-key-cache-not-cleaned",
        ("MQQB-3.1.6.11-02", "MQQB-3.1.6.11-04"),
        "The sender does nothing when the cleanup timer of SendSymmetricKeyCache expires.",
        SENT_KEY_CACHE_NAME,
        _CacheWithoutCleanup,
    ),
    (
        "sender-symmetric-key-cache-expired-entries-kept",
        ("MQQB-3.1.6.11-02",),
        "The sender's cleanup of SendSymmetricKeyCache keeps expired entries.",
        SENT_KEY_CACHE_NAME,
        _CacheCleanupKeepsAllEntries,
    ),
    (
        "sender-symmetric-key-cache-young-entries-deleted",
        ("MQQB-3.1.6.11-02",),
        "The sender's cleanup of SendSymmetricKeyCache also deletes entries that have not expired.",
        SENT_KEY_CACHE_NAME,
        _CacheCleanupDeletesAllEntries,
    ),
    (
        "sender-symmetric-key-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.11-03",),
        "The sender computes the next cleanup of SendSymmetricKeyCache from the youngest entry instead of the oldest.",
        SENT_KEY_CACHE_NAME,
        _NextCacheCleanupTimedByYoungestEntry,
    ),
    (
        "sender-symmetric-key-cache-timer-ignores-age",
        ("MQQB-3.1.6.11-04",),
        "The sender restarts the cleanup timer of SendSymmetricKeyCache with a full lifetime.",
        SENT_KEY_CACHE_NAME,
        _NextCacheCleanupAfterFullLifetime,
    ),
):
    add(_name, _breaks, _says, replace_cache(_cache, _faulty))


class _CacheCleanupDeletesOneEntry(AnyTimedCache):
    """Delete only one old entry in each cleanup of a cache."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        before = list(self.entries)
        again_ms = super().delete_old_entries(now, scale)
        gone = [entry for entry in before if entry not in self.entries]
        self.entries[:0] = gone[1:]
        assert self.lifetime_ms is not None
        return again_ms if not gone[1:] else (self.lifetime_ms + MS_PER_MINUTE) // scale


add(
    "receiver-receive-key-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.10-02",
    "The receiver deletes only one old entry of ReceiveSymmetricKeyCache at an expiry of the cleanup timer.",
    replace_cache("ReceiveSymmetricKeyCache", _CacheCleanupDeletesOneEntry),
    blind=True,
)


class _CacheCleanupDeletesAllEntriesOfQueueManager(AnyTimedCache):
    """When an entry of a cache is old, delete all entries of the queue manager of that entry."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        before = list(self.entries)
        super().delete_old_entries(now, scale)
        owners = {entry.RemoteQMGuid for entry in before if entry not in self.entries}
        self.entries = [entry for entry in self.entries if entry.RemoteQMGuid not in owners]
        return super().delete_old_entries(now, scale)


add(
    "receiver-receive-key-cache-cleanup-deletes-all-keys-of-the-sender",
    "MQQB-3.1.6.10-02",
    "The receiver deletes the younger keys of a sender together with the sender's old key.",
    replace_cache("ReceiveSymmetricKeyCache", _CacheCleanupDeletesAllEntriesOfQueueManager),
    blind=True,
)


class _NextCacheCleanupTimedByNewestEntry(AnyTimedCache):
    """Compute the time of the next cleanup of a cache from its newest entry instead of its oldest one."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        if super().delete_old_entries(now, scale) is None or self.lifetime_ms is None:
            return None
        newest_ms: int = 1000 * max(entry.CachedTime for entry in self.entries)
        return (self.lifetime_ms + MS_PER_MINUTE) // scale - (1000 * now.utc_s - newest_ms)


add(
    "receiver-receive-key-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.10-03",
    "The receiver computes the next cleanup of ReceiveSymmetricKeyCache from the newest of the remaining entries.",
    replace_cache("ReceiveSymmetricKeyCache", _NextCacheCleanupTimedByNewestEntry),
    blind=True,
)


CLEANUP_RULE_BY_CACHE = {
    "ReceiveSymmetricKeyCache": "MQQB-3.1.6.10-04",
    "SendSymmetricKeyCache": "MQQB-3.1.6.11-04",
    "UserCertCache": "MQQB-3.1.6.13-04",
}
"""The rule about the next cleanup of each cache."""


class NextCacheCleanupAfterWholeLifetime(AnyTimedCache):
    """Schedule the next cleanup of a cache for one lifetime after the present one, although the oldest remaining entry
    may expire earlier.
    """

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Delete the old entries; return the lifetime of an entry."""
        again_ms = super().delete_old_entries(now, scale)
        return None if again_ms is None or self.lifetime_ms is None else self.lifetime_ms // scale


for _cache, _next in CLEANUP_RULE_BY_CACHE.items():
    _name = {"R": "received-keys", "S": "sent-keys", "U": "certificates"}[_cache[0]]
    add(
        f"cleanup-of-{_name}-after-whole-lifetime",
        _next,
        f"The queue manager always restarts the cleanup timer of {_cache} with the full lifetime, although the oldest "
        "entry may expire earlier.",
        replace_cache(_cache, NextCacheCleanupAfterWholeLifetime),
        blind=True,
    )


class _LaterCacheCleanupsOneMinuteEarly(AnyTimedCache):
    """In the second and later cleanups of a cache, schedule the next cleanup one minute too early."""

    cleanup_count = 0

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        self.cleanup_count += 1
        return None if again_ms is None else again_ms - MS_PER_MINUTE // scale * (self.cleanup_count > 1)


add(
    "receiver-receive-key-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.10-04",
    "The receiver omits the minute from the duration of the timer of ReceiveSymmetricKeyCache at the second restart.",
    replace_cache("ReceiveSymmetricKeyCache", _LaterCacheCleanupsOneMinuteEarly),
    blind=True,
)


add(
    "sender-send-key-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.11-02",
    "The sender deletes only one old entry of SendSymmetricKeyCache at an expiry of the cleanup timer.",
    replace_cache("SendSymmetricKeyCache", _CacheCleanupDeletesOneEntry),
    blind=True,
)


add(
    "sender-send-key-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.11-03",
    "The sender computes the next cleanup of SendSymmetricKeyCache from the newest of the remaining entries.",
    replace_cache("SendSymmetricKeyCache", _NextCacheCleanupTimedByNewestEntry),
    blind=True,
)


add(
    "sender-send-key-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.11-04",
    "The sender omits the minute from the duration of the timer of SendSymmetricKeyCache at the second restart.",
    replace_cache("SendSymmetricKeyCache", _LaterCacheCleanupsOneMinuteEarly),
    blind=True,
)


add(
    "receiver-user-certificate-cache-cleanup-deletes-one-entry-at-a-time",
    "MQQB-3.1.6.13-02",
    "The receiver deletes only one old entry of UserCertCache at an expiry of the cleanup timer.",
    replace_cache("UserCertCache", _CacheCleanupDeletesOneEntry),
    blind=True,
)


add(
    "receiver-user-certificate-cache-next-cleanup-from-newest-entry",
    "MQQB-3.1.6.13-03",
    "The receiver computes the next cleanup of UserCertCache from the newest of the remaining entries.",
    replace_cache("UserCertCache", _NextCacheCleanupTimedByNewestEntry),
    blind=True,
)


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


add(
    "receiver-user-certificate-cache-second-cleanup-without-minute",
    "MQQB-3.1.6.13-04",
    "The receiver omits the minute from the duration of the timer of UserCertCache at the second restart.",
    replace_cache("UserCertCache", _LaterCacheCleanupsOneMinuteEarly),
    blind=True,
)


@fault("receiver-never-cleans-receive-symmetric-key-cache-after-emptied", breaks="MQQB-3.1.6.10-01", blind=True)
class ReceiverNeverCleansReceiveSymmetricKeyCacheAfterEmptied(CacheTimers):
    """The receiver does nothing when the ReceiveSymmetricKeyCache Cleanup Timer expires after an earlier cleanup has
    emptied the cache.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.emptied = False

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        if name is not TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP:
            super().on_cleanup_timer(name, now)
        elif not self.emptied:
            super().on_cleanup_timer(name, now)
            self.emptied = not len(self.qm.caches.ReceiveSymmetricKeyCache)
