"""Durations of the SUT, measured by the tester, and what they are compared with.

A system that was stopped does late what its timers are due for, and what it sent before looks late, too: no duration is
known better than by the length of the stalls that it touches. The pulse is asked for them at each comparison, here and
nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.capture.recorder import Frame
from harness.environment.pulse import Pulse
from harness.errors import ConformanceFailure
from harness.sut.sut import Sut

Instant = Frame | int
"""A packet, or int ms of the recorder's time."""
IN_TIME = "in time"


def time_of(instant: Instant) -> int:
    """Return an instant in ms of the recorder's time."""
    return instant.time_ms if isinstance(instant, Frame) else instant


@dataclass(frozen=True, slots=True)
class Duration:
    """What passed between two instants.

    ``ms``: int, by the tester's clock; negative where the second came first. ``stalled_ms``: the whole length of the
    stalls that it touches. ``longest_ms``: the longest stall of the test so far, whenever it was.
    """

    ms: int
    stalled_ms: int
    longest_ms: int
    sut: Sut

    def allowed(self, earliest_ms: int, latest_ms: int, observed: int | None = None) -> tuple[int, int]:
        """Return the range that a value has to be in: widened by the stalls only where that makes a difference.

        ``observed``: the value, where the SUT has measured the same duration; else this one. ConformanceFailure for a
        value that is out of range where a stall may be the reason: one that is as long as the duration should be, or
        one at another time of the test, whose consequences nobody knows.
        """
        value = self.ms if observed is None else observed
        if earliest_ms <= value <= latest_ms or not self.longest_ms:
            return earliest_ms, latest_ms
        early, late = earliest_ms - self.stalled_ms, latest_ms + self.stalled_ms
        covered = self.stalled_ms >= (earliest_ms or latest_ms)
        if early <= value <= late and not covered:
            return early, late
        raise self._unknown(f"{value:,} ms where {earliest_ms:,} to {latest_ms:,} are allowed")

    def by_timer(self, specified_ms: int) -> tuple[int, int]:
        """Return the range of a duration that a timer of the SUT makes, in ms that pass here."""
        due_ms = self.sut.duration_ms(specified_ms)
        return self.allowed(due_ms * 4 // 5, due_ms + self.sut.slack_ms(specified_ms))

    def when(self, specified_ms: int, in_time: str = IN_TIME) -> str:
        """Describe when a timer of the SUT expired: ``in_time``, or how long after the first instant."""
        earliest_ms, latest_ms = self.by_timer(specified_ms)
        return in_time if earliest_ms <= self.ms <= latest_ms else f"after {self.ms} ms"

    def is_near(self, expected_ms: float, tolerance_ms: float) -> bool:
        """Return whether it is this one of several durations, no two of which are nearer than four tolerances.

        Stalls that are longer than two make one look like another.
        """
        self.require_steady(int(2 * tolerance_ms))
        near = abs(self.ms - expected_ms) <= tolerance_ms
        if not near and self.longest_ms:
            raise self._unknown(f"{self.ms:,} ms, not {expected_ms:,.0f}")
        return near

    def require_steady(self, margin_ms: int) -> None:
        """Raise ConformanceFailure, which makes rules inconclusive, when the SUT stalled longer than a margin in it."""
        if self.stalled_ms > margin_ms:
            raise self._unknown(f"more than the {margin_ms:,} ms that make no difference")

    check_steady = require_steady  # old name, until its last users change

    def _unknown(self, what: str) -> ConformanceFailure:
        stood = f"the SUT stood still for up to {self.longest_ms:,} ms, {self.stalled_ms:,} ms in or beside"
        return ConformanceFailure(f"{stood} this duration: {what}")


def duration(sut: Sut, pulse: Pulse | None, began_ms: int, since_ms: int, until_ms: int) -> Duration:
    """Return what passed between two times of a recorder that began at ``began_ms``, all int ms."""
    if pulse is None:
        return Duration(until_ms - since_ms, 0, 0, sut)
    stalled_ms = pulse.touching_ms(began_ms + since_ms, began_ms + until_ms)
    return Duration(until_ms - since_ms, stalled_ms, pulse.longest_ms, sut)
