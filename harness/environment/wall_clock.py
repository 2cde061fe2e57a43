"""Provide the time of day of a run, independent of changes to the machine's clock.

A clock jumps when it is set, by hand or by NTP, or when a suspended machine wakes up. So a run records times that
are computed as the start time of its process plus the elapsed time. Frames and verdicts therefore stay in order.
Times in packets are compared with the clock of the system under test. If that system uses the clock of this
machine, the tester also reads this clock for packets, and reports a jump.
"""

from __future__ import annotations

import time

LEAST_CLOCK_JUMP_MS = 1_000
"""int ms: the smallest clock jump that is reported. A smaller jump cannot affect a check, because times in packets are
integer seconds.
"""
_NS_PER_MS = 1_000_000


def _measure_clock_offset_ns() -> int:
    """Return the time of day minus the monotonic clock (int ns)."""
    return time.time_ns() - time.monotonic_ns()


_CLOCK_OFFSET_AT_PROCESS_START_NS = _measure_clock_offset_ns()


def compute_jump_free_time_of_day_ns(monotonic_ns: int | None = None) -> int:
    """Return the time of day (int ns since 1970 UTC), computed as the start time of the process plus the elapsed
    time.

    ``monotonic_ns`` is an instant of the monotonic clock; None means now.
    """
    return (time.monotonic_ns() if monotonic_ns is None else monotonic_ns) + _CLOCK_OFFSET_AT_PROCESS_START_NS


class WallClock:
    """The time of day for packets. ``machines`` states whether to read the machine's clock, which the SUT also
    reads, or a clock without jumps.
    """

    def __init__(self, *, machines: bool) -> None:
        self._reads_clock_of_machine = machines
        self._initial_offset_ns = _measure_clock_offset_ns()
        self._largest_offset_change_ms = 0

    def utc_s(self) -> int:
        """Return the time of day in whole seconds since 1970 UTC."""
        if not self._reads_clock_of_machine:
            return compute_jump_free_time_of_day_ns() // 1_000_000_000
        self._largest_offset_change_ms = max(
            self._largest_offset_change_ms, abs(_measure_clock_offset_ns() - self._initial_offset_ns) // _NS_PER_MS
        )
        return time.time_ns() // 1_000_000_000

    @property
    def largest_jump_ms(self) -> int:
        """The size of the largest clock jump since this object was created (int ms), or 0 if the clock did not
        jump.
        """
        return self._largest_offset_change_ms if self._largest_offset_change_ms >= LEAST_CLOCK_JUMP_MS else 0
