"""The time of day of a run, independent of changes to the machine's clock.

A clock jumps when it is set, by hand or by NTP, or when a suspended machine wakes up. The times that a run notes
continue from the time of day at which its process began, so that frames and verdicts stay in order. Times in packets
are compared with the clock of the system under test: where that is this machine's clock, it is read, and a jump is
reported.
"""

from __future__ import annotations

import time

JUMP_MS = 1_000
"""A check cannot notice a smaller change of the clock, because times in packets are whole seconds."""
_MS = 1_000_000


def _ahead_ns() -> int:
    """Return the difference of the time of day and the monotonic clock."""
    return time.time_ns() - time.monotonic_ns()


_AHEAD_NS = _ahead_ns()


def steady_ns(monotonic_ns: int | None = None) -> int:
    """Return the time of day in ns since 1970 UTC: the start of the process plus the elapsed time.

    ``monotonic_ns``: an instant of the monotonic clock; None: now.
    """
    return (time.monotonic_ns() if monotonic_ns is None else monotonic_ns) + _AHEAD_NS


class WallClock:
    """The time of day for packets. ``machines``: the machine's own, which the SUT reads too; else the steady one."""

    def __init__(self, *, machines: bool) -> None:
        self._machines = machines
        self._ahead_ns = _ahead_ns()
        self._furthest_ms = 0

    def utc_s(self) -> int:
        """Return the seconds since 1970 UTC."""
        if not self._machines:
            return steady_ns() // 1_000_000_000
        self._furthest_ms = max(self._furthest_ms, abs(_ahead_ns() - self._ahead_ns) // _MS)
        return time.time_ns() // 1_000_000_000

    @property
    def jump_ms(self) -> int:
        """How far the clock that is read jumped since the beginning, 0 when it did not."""
        return self._furthest_ms if self._furthest_ms >= JUMP_MS else 0
