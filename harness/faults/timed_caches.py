"""Caches of keys and certificates that keep something else, or something more. Spec: MS-MQQB 3.1.1.3.

A fault is a subclass of TimedCache that is put in the place of one cache, by the printed name of that cache.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.names.cache_timers import CACHE_TIMERS, CacheTimers
from reference_qm.model.timers import TimerKey
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now

Cache = TimedCache[Any]
_TIMERS = {cache: TimerKey(timer, 0) for timer, cache in CACHE_TIMERS.items()}


def cache_replaced(name: str, cls: type[Cache]) -> Install:
    """Put a subclass of TimedCache in the place of a cache, on top of the faults that are there already."""

    def put_in_place(faulty: FaultyCore) -> None:
        caches = faulty.core.caches
        if isinstance(getattr(caches, name), cls):
            return
        setattr(caches, name, type(cls.__name__, (cls, type(getattr(caches, name))), {})(1, None))
        caches.configure(caches.settings)

    def install(faulty: FaultyCore) -> None:
        put_in_place(faulty)
        faulty.on_restart.append(put_in_place)  # which may begin with other caches

    return install


class NothingCached(Cache):
    """A cache that takes no entry."""

    def add(self, entry: Any) -> None:
        """Forget it."""


class OnlyTheLast(Cache):
    """A cache of one entry, that of the last."""

    def add(self, entry: Any) -> None:
        """Let it take the place of the others."""
        self.entries.clear()
        super().add(entry)


class CachedInMs(Cache):
    """A cache whose CachedTime is in ms."""

    def add(self, entry: Any) -> None:
        super().add(replace(entry, CachedTime=1000 * entry.CachedTime))


class WithoutLimit(Cache):
    """A cache that is never full."""

    def add(self, entry: Any) -> None:
        self.entries.append(entry)


class EmptiedWhenFull(Cache):
    """A cache that loses all entries instead of the oldest half."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            self.entries.clear()
        super().add(entry)


class NewestLost(Cache):
    """A cache that loses the newest half instead of the oldest."""

    def add(self, entry: Any) -> None:
        if len(self.entries) >= self._size:
            self.entries.sort(key=lambda kept: int(kept.CachedTime))
            del self.entries[-max(1, self._size // 2) :]
        super().add(entry)


def cached_with(name: str, **fields: Any) -> Install:
    """Put entries with other fields into a cache."""

    class CachedWith(Cache):
        def add(self, entry: Any) -> None:
            super().add(replace(entry, **fields))

    return cache_replaced(name, CachedWith)


def cleanup_not_started(name: str) -> Install:
    """Do not start the cleanup timer of a cache."""

    class CleanupNotStarted(CacheTimers):
        def start(self, now: Now) -> None:
            super().start(now)
            self.qm.timers.stop(_TIMERS[name])

    return replace_part(CleanupNotStarted)


def cleanup_late(name: str) -> Install:
    """Let the cleanup timer of a cache run for two lifetimes at first."""

    class CleanupLate(CacheTimers):
        def start(self, now: Now) -> None:
            running = self.qm.timers.is_running(_TIMERS[name])
            super().start(now)
            lifetime_ms = getattr(self.qm.caches, CACHE_TIMERS[_TIMERS[name].name]).lifetime_ms
            if not running and self.qm.timers.is_running(_TIMERS[name]):
                self.qm.timers.start(_TIMERS[name], now.monotonic_ms, 2 * lifetime_ms // self.qm.settings.scale)

    return replace_part(CleanupLate)


def cleanup_started_again(name: str) -> Install:
    """Start the cleanup timer of a cache with every message, also while it runs."""

    class CleanupStartedAgain(CacheTimers):
        def start(self, now: Now) -> None:
            self.qm.timers.stop(_TIMERS[name])
            super().start(now)

    return replace_part(CleanupStartedAgain)
