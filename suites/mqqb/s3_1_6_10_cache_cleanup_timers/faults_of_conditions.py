"""Faults of MS-MQQB 3.1.6.10 to 3.1.6.13 that appear at a later cleanup or with several entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.core.names.cache_timers import CACHE_NAME_BY_TIMER, CacheTimers
from reference_qm.model.timers import TimerKey

_MINUTE_MS = 60_000


class _CacheCleanupDeletesOneEntry(AnyTimedCache):
    """A cache that deletes only one entry at each cleanup."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        before = list(self.entries)
        again = super().delete_old_entries(now, scale)
        old = [one for one in before if one not in self.entries]
        self.entries.extend(old[1:])
        return again if again is not None or not self.entries else 1000


class _CacheCleanupDeletesAllEntries(AnyTimedCache):
    """A cache that deletes all entries at a cleanup if one entry is old."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        before = len(self.entries)
        again = super().delete_old_entries(now, scale)
        if len(self.entries) < before:
            self.entries.clear()
            return None
        return again


class _CacheCleanupDeletesEntryOneMinuteLate(AnyTimedCache):
    """A cache that deletes an entry only when the entry is one minute older than the lifetime."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        kept = self.lifetime_ms
        if kept is not None:
            self.lifetime_ms = kept + _MINUTE_MS
        again = super().delete_old_entries(now, scale)
        self.lifetime_ms = kept
        return None if again is None else again - _MINUTE_MS // scale


class _CacheCleanupDeletesEntryAfterHalfLifetime(AnyTimedCache):
    """A cache that deletes an entry after half of its lifetime."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        kept = self.lifetime_ms
        if kept is not None:
            self.lifetime_ms = kept // 2
        again = super().delete_old_entries(now, scale)
        self.lifetime_ms = kept
        return None if again is None or kept is None else again + kept // 2 // scale


class _NextCacheCleanupTimedByNewestEntry(AnyTimedCache):
    """A cache whose next cleanup is computed from the newest entry."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        again = super().delete_old_entries(now, scale)
        if again is None:
            return None
        times = [one.CachedTime for one in self.entries]
        return again + 1000 * (max(times) - min(times))


class _NextCacheCleanupTimedByLastListedEntry(AnyTimedCache):
    """A cache whose next cleanup is computed from the entry that is last in the list."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        again = super().delete_old_entries(now, scale)
        if again is None:
            return None
        return again + 1000 * (self.entries[-1].CachedTime - min(one.CachedTime for one in self.entries))


class _NextCacheCleanupOneMinuteEarly(AnyTimedCache):
    """A cache whose next cleanup is one minute too early."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        again = super().delete_old_entries(now, scale)
        return None if again is None else again - _MINUTE_MS // scale


class _NextCacheCleanupAfterFullLifetime(AnyTimedCache):
    """A cache whose next cleanup ignores the age of the oldest entry."""

    def delete_old_entries(self, now: Any, scale: int = 1) -> int | None:
        again = super().delete_old_entries(now, scale)
        if again is None or self.lifetime_ms is None:
            return None
        return self.lifetime_ms // scale + _MINUTE_MS // scale


def _ignore_later_cleanup_timers(cache: str) -> Install:
    """Return an installer of a fault that ignores the second and each later expiry of a cleanup timer."""

    def run(self: Any, original: Any, name: Any, now: Any) -> None:
        cleaned = self.__dict__.setdefault("cleaned", [])
        if CACHE_NAME_BY_TIMER[name] == cache:
            if cleaned:
                return
            cleaned.append(name)
        original(name, now)

    return change_step(CacheTimers.on_cleanup_timer, run)


def _ignore_cleanup_timer_of_cache_with_several_entries(cache: str) -> Install:
    def run(self: Any, original: Any, name: Any, now: Any) -> None:
        if CACHE_NAME_BY_TIMER[name] != cache or len(getattr(self.qm.caches, cache)) < 2:
            original(name, now)

    return change_step(CacheTimers.on_cleanup_timer, run)


def _clean_up_wrong_cache_at_timer_expiry(cache: str, other: str) -> Install:
    def run(self: Any, original: Any, name: Any, now: Any) -> None:
        chosen = next(one for one, attribute in CACHE_NAME_BY_TIMER.items() if attribute == other)
        original(chosen if CACHE_NAME_BY_TIMER[name] == cache else name, now)

    return change_step(CacheTimers.on_cleanup_timer, run)


def _start_cleanup_timer_once(cache: str) -> Install:
    """Return an installer of a fault that starts a cleanup timer only for the first entry of a cache."""
    name = next(one for one, attribute in CACHE_NAME_BY_TIMER.items() if attribute == cache)

    def run(self: Any, original: Any, now: Any) -> None:
        before = self.qm.timers.is_running(TimerKey(name, 0))
        original(now)
        if not before and self.qm.timers.is_running(TimerKey(name, 0)):
            if self.__dict__.setdefault("starts", {}).setdefault(cache, 0):
                self.qm.timers.stop(TimerKey(name, 0))
            self.starts[cache] += 1

    return change_step(CacheTimers.start, run)


_CACHES_WITH_RULES: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "ReceiveSymmetricKeyCache",
        "UserCertCache",
        {
            "clean up": "MQQB-3.1.6.10-01",
            "delete": "MQQB-3.1.6.10-02",
            "oldest": "MQQB-3.1.6.10-03",
            "restart": "MQQB-3.1.6.10-04",
        },
    ),
    (
        "SendSymmetricKeyCache",
        "ReceiveSymmetricKeyCache",
        {"delete": "MQQB-3.1.6.11-02", "oldest": "MQQB-3.1.6.11-03", "restart": "MQQB-3.1.6.11-04"},
    ),
    (
        "UserCertCache",
        "SendSymmetricKeyCache",
        {
            "clean up": "MQQB-3.1.6.13-01",
            "delete": "MQQB-3.1.6.13-02",
            "oldest": "MQQB-3.1.6.13-03",
            "restart": "MQQB-3.1.6.13-04",
        },
    ),
)
"""Each cache, another cache, and the rule of each step of the cleanup."""
_CACHE_CLEANUP_CLASSES_OF_FAULTS: tuple[tuple[str, str, str, type[AnyTimedCache]], ...] = (
    ("one-entry-deleted", "delete", "deletes only one old entry of {} at a cleanup", _CacheCleanupDeletesOneEntry),
    (
        "young-entries-deleted",
        "delete",
        "also deletes young entries of {} if an entry is old",
        _CacheCleanupDeletesAllEntries,
    ),
    (
        "entries-deleted-late",
        "delete",
        "deletes an entry of {} one minute too late",
        _CacheCleanupDeletesEntryOneMinuteLate,
    ),
    (
        "entries-deleted-early",
        "delete",
        "deletes an entry of {} after half of its lifetime",
        _CacheCleanupDeletesEntryAfterHalfLifetime,
    ),
    (
        "timed-by-newest",
        "oldest",
        "computes the next cleanup of {} from the newest entry",
        _NextCacheCleanupTimedByNewestEntry,
    ),
    (
        "timed-by-last-of-list",
        "oldest",
        "computes the next cleanup of {} from the last entry of the list",
        _NextCacheCleanupTimedByLastListedEntry,
    ),
    ("minute-missing", "restart", "cleans up {} one minute too early", _NextCacheCleanupOneMinuteEarly),
    (
        "age-ignored",
        "restart",
        "ignores the age of the oldest entry when it restarts the timer of {}",
        _NextCacheCleanupAfterFullLifetime,
    ),
)
_CLEANUP_STEP_FAULTS: tuple[tuple[str, str, Callable[[str, str], Install]], ...] = (
    (
        "second-cleanup-omitted",
        "ignores the second expiry of the timer of {}",
        lambda cache, other: _ignore_later_cleanup_timers(cache),
    ),
    (
        "cleanup-of-several-omitted",
        "ignores the timer of {} if this cache has several entries",
        lambda cache, other: _ignore_cleanup_timer_of_cache_with_several_entries(cache),
    ),
    (
        "other-cache-cleaned",
        "cleans up another cache when the timer of {} expires",
        _clean_up_wrong_cache_at_timer_expiry,
    ),
    (
        "timer-after-emptied-cache-omitted",
        "starts the timer of {} only once by an entry",
        lambda cache, other: _start_cleanup_timer_once(cache),
    ),
)
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"queue-manager-{cache.lower()}-{label}",
            rules[step],
            f"The queue manager {words.format(cache)}.",
            replace_cache(cache, cls),
        )
        for cache, _, rules in _CACHES_WITH_RULES
        for label, step, words, cls in _CACHE_CLEANUP_CLASSES_OF_FAULTS
        if (cache, label) != ("SendSymmetricKeyCache", "entries-deleted-early")  # breaks a MUST besides a SHOULD
    ),
    *(
        (
            f"queue-manager-{cache.lower()}-{label}",
            rules["clean up"],
            f"The queue manager {words.format(cache)}.",
            build(cache, other),
        )
        for cache, other, rules in _CACHES_WITH_RULES
        if "clean up" in rules
        for label, words, build in _CLEANUP_STEP_FAULTS
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
