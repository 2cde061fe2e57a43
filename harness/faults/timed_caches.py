"""Faults in the caches of keys and certificates. Spec: MS-MQQB 3.1.1.3.

Each fault replaces one cache with a subclass of TimedCache. The cache is given by its name in the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, replace_part
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.names.cache_timers import CACHE_NAME_BY_TIMER, CacheTimers
from reference_qm.model.timers import TimerKey
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now

AnyTimedCache = TimedCache[Any]
_CLEANUP_TIMER_BY_CACHE = {cache: TimerKey(timer, 0) for timer, cache in CACHE_NAME_BY_TIMER.items()}


def replace_cache(name: str, cls: type[AnyTimedCache]) -> Install:
    """Return an installer of a fault that replaces a cache with a subclass of TimedCache. Earlier faults of that
    cache remain in effect.
    """

    def replace_part_by_subclass(faulty: FaultyCore) -> None:
        caches = faulty.core.caches
        if isinstance(getattr(caches, name), cls):
            return
        setattr(caches, name, type(cls.__name__, (cls, type(getattr(caches, name))), {})(1, None))
        caches.configure(caches.settings)

    def install_cache(faulty: FaultyCore) -> None:
        replace_part_by_subclass(faulty)
        faulty.actions_at_restart.append(replace_part_by_subclass)  # a restart may create new caches

    return install_cache


class CacheWithoutEntries(AnyTimedCache):
    """A cache that does not store entries."""

    def add(self, entry: Any) -> None:
        """Discard the entry instead of storing it."""


class LastEntryCache(AnyTimedCache):
    """A cache that stores only the most recent entry."""

    def add(self, entry: Any) -> None:
        """Replace all other entries with the new entry."""
        self.entries.clear()
        super().add(entry)


class CacheWithTimesInMs(AnyTimedCache):
    """A cache that stores CachedTime in milliseconds. The correct unit is seconds."""

    def add(self, entry: Any) -> None:
        super().add(replace(entry, CachedTime=1000 * entry.CachedTime))


class UnlimitedCache(AnyTimedCache):
    """A cache that never counts as full."""

    def add(self, entry: Any) -> None:
        self.entries.append(entry)


class CacheEmptiedWhenFull(AnyTimedCache):
    """A cache that removes all entries, instead of the oldest half of its entries, when the cache is full."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            self.entries.clear()
        super().add(entry)


class CacheLosingNewestHalf(AnyTimedCache):
    """A cache that removes the newest half of its entries, instead of the oldest half, when the cache is full."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            self.entries.sort(key=lambda kept: int(kept.CachedTime))
            del self.entries[-max(1, self._size // 2) :]
        super().add(entry)


class CacheLosingOnlyOldestEntry(AnyTimedCache):
    """A cache that removes only its oldest entry, instead of the oldest half, when the cache is full."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            del self.entries[0]
        super().add(entry)


class CacheFullOneEntryEarly(AnyTimedCache):
    """A cache that removes the oldest half of its entries too early, when there is still room for one entry."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size - 1:
            del self.entries[: max(1, self._size // 2)]
        super().add(entry)


class CacheLosingHalfAndOneEntry(AnyTimedCache):
    """A cache that removes the oldest half of its entries and one more entry when the cache is full."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            del self.entries[: self._size // 2 + 1]
        super().add(entry)


def store_field_of_first_entry(name: str, field: str) -> Install:
    """Return an installer of a fault with which later entries of a cache are stored with the first entry's value of
    one field.
    """

    class CachedLikeFirst(AnyTimedCache):
        def add(self, entry: Any) -> None:
            if self.entries:
                entry = replace(entry, **{field: getattr(self.entries[0], field)})
            super().add(entry)

    return replace_cache(name, CachedLikeFirst)


class _EqualToEverything:
    """A value that equals every other value, and whose attributes also equal every value."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> _EqualToEverything:
        return self


def make_cache_ignoring_fields(*ignored: str) -> type[AnyTimedCache]:
    """Return a subclass of a cache that ignores the values of some fields when it searches for an entry."""

    class FoundAnyway(AnyTimedCache):
        def find(self, matches: Callable[[Any], bool]) -> Any:
            anything = dict.fromkeys(ignored, _EqualToEverything())
            return next((entry for entry in self.entries if matches(replace(entry, **anything))), None)

    return FoundAnyway


def scale_cleanup_timer(name: str, factor: float) -> Install:
    """Return an installer of a fault that multiplies the duration of the cleanup timer of a cache by a factor."""

    def run(self: Any, original: Callable[[Now], None], now: Now) -> None:
        cache = getattr(self.qm.caches, name)
        kept = cache.lifetime_ms
        if kept is not None:
            cache.lifetime_ms = int(kept * factor)
        original(now)
        cache.lifetime_ms = kept

    return change_step(CacheTimers.start, run)


def change_cached_entries(name: str, **fields: Any) -> Install:
    """Return an installer of a fault that changes fields of entries before they are stored in a cache."""

    class CachedWith(AnyTimedCache):
        def add(self, entry: Any) -> None:
            super().add(replace(entry, **fields))

    return replace_cache(name, CachedWith)


def omit_cleanup_timer(name: str) -> Install:
    """Return an installer of a fault that does not start the cleanup timer of a cache."""

    class CleanupNotStarted(CacheTimers):
        def start(self, now: Now) -> None:
            super().start(now)
            self.qm.timers.stop(_CLEANUP_TIMER_BY_CACHE[name])

    return replace_part(CleanupNotStarted)


def delay_cleanup_timer(name: str) -> Install:
    """Return an installer of a fault that starts the cleanup timer of a cache with twice the lifetime of an entry."""

    class CleanupLate(CacheTimers):
        def start(self, now: Now) -> None:
            running = self.qm.timers.is_running(_CLEANUP_TIMER_BY_CACHE[name])
            super().start(now)
            lifetime_ms = getattr(self.qm.caches, CACHE_NAME_BY_TIMER[_CLEANUP_TIMER_BY_CACHE[name].name]).lifetime_ms
            if not running and self.qm.timers.is_running(_CLEANUP_TIMER_BY_CACHE[name]):
                self.qm.timers.start(
                    _CLEANUP_TIMER_BY_CACHE[name], now.monotonic_ms, 2 * lifetime_ms // self.qm.settings.scale
                )

    return replace_part(CleanupLate)


def restart_cleanup_timer(name: str) -> Install:
    """Return an installer of a fault that restarts the cleanup timer of a cache with every message, even while the
    timer runs.
    """

    class CleanupStartedAgain(CacheTimers):
        def start(self, now: Now) -> None:
            self.qm.timers.stop(_CLEANUP_TIMER_BY_CACHE[name])
            super().start(now)

    return replace_part(CleanupStartedAgain)
