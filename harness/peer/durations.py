"""Measure durations of the SUT, and compute their allowed ranges.

While the system stalls, its timers expire late, and packets that it sent before the stall arrive late. So a duration is
uncertain by the total length of the stalls during that duration. Only this module compares durations;
``harness.environment.pulse`` measures the stalls.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.capture.recorder import Frame
from harness.environment.pulse import LivenessMeasurement
from harness.errors import ConformanceFailure
from harness.sut.sut import Sut

FrameOrTimeMs = Frame | int
"""The type of an instant: a packet, or a time in int ms on the recorder's clock."""
IN_TIME_TEXT = "in time"


def get_time_ms(instant: FrameOrTimeMs) -> int:
    """Return the time of an instant in ms on the recorder's clock."""
    return instant.time_ms if isinstance(instant, Frame) else instant


@dataclass(frozen=True, slots=True)
class Duration:
    """The time between two instants.

    ``ms``: int, by the tester's clock; negative if the second instant was earlier. ``stalled_ms``: the total length
    of the stalls between the instants. ``longest_possible_ms``: the length of the longest stall of the test so far.
    """

    ms: int
    stalled_ms: int
    longest_possible_ms: int
    sut: Sut

    def get_allowed_range(self, earliest_ms: int, latest_ms: int, observed: int | None = None) -> tuple[int, int]:
        """Return the allowed range of a value. If the SUT's stalls explain why the value is outside this range, return
        the range extended by these stalls.

        ``observed``: the value, if the SUT measured the duration itself; by default, the value is this duration.
        Raise ConformanceFailure for a value outside the range if a stall may explain the value. A stall may explain
        the value if it was as long as the duration, or if it occurred at a different time of the test.
        """
        value = self.ms if observed is None else observed
        if earliest_ms <= value <= latest_ms or not self.longest_possible_ms:
            return earliest_ms, latest_ms
        early, late = earliest_ms - self.stalled_ms, latest_ms + self.stalled_ms
        covered = self.stalled_ms >= (earliest_ms or latest_ms)
        if early <= value <= late and not covered:
            return early, late
        raise self._raise_unknown_duration(
            f"the value is {value:,} ms; {earliest_ms:,} to {latest_ms:,} ms are allowed"
        )

    def expect_timer_duration(self, specified_ms: int) -> tuple[int, int]:
        """Return the allowed range, in ms of the tester's clock, of a duration that a timer of the SUT determines."""
        due_ms = self.sut.duration_ms(specified_ms)
        return self.get_allowed_range(due_ms * 4 // 5, due_ms + self.sut.slack_ms(specified_ms))

    def describe_expiry(self, specified_ms: int, in_time: str = IN_TIME_TEXT) -> str:
        """Return ``in_time`` if a timer of the SUT expired in time; otherwise return the number of ms that passed from
        the first instant until the timer expired.
        """
        earliest_ms, latest_ms = self.expect_timer_duration(specified_ms)
        return in_time if earliest_ms <= self.ms <= latest_ms else f"after {self.ms} ms"

    def is_near_expected_duration(self, expected_ms: float, tolerance_ms: float) -> bool:
        """Return whether the duration equals the expected duration within the tolerance.

        Every other possible duration must differ from the expected duration by at least four tolerances.
        Raise ConformanceFailure if stalls longer than two tolerances make the possible durations indistinguishable.
        """
        self.require_duration_without_long_stall(int(2 * tolerance_ms))
        near = abs(self.ms - expected_ms) <= tolerance_ms
        if not near and self.longest_possible_ms:
            raise self._raise_unknown_duration(f"the duration is {self.ms:,} ms instead of {expected_ms:,.0f} ms")
        return near

    def require_duration_without_long_stall(self, margin_ms: int) -> None:
        """Raise ConformanceFailure if the SUT stalled longer than a margin during the measured duration. The rules of
        the check then become inconclusive.
        """
        if self.stalled_ms > margin_ms:
            raise self._raise_unknown_duration(f"the tolerance is {margin_ms:,} ms")

    def _raise_unknown_duration(self, what: str) -> ConformanceFailure:
        stalls = f"up to {self.longest_possible_ms:,} ms ({self.stalled_ms:,} ms in total)"
        return ConformanceFailure(f"the SUT stalled for {stalls} during or near the measured duration: {what}")


def duration(sut: Sut, pulse: LivenessMeasurement | None, began_ms: int, since_ms: int, until_ms: int) -> Duration:
    """Return the duration between two times of a recorder. All times are int ms; ``began_ms`` is the time at which
    the recorder began.
    """
    if pulse is None:
        return Duration(until_ms - since_ms, 0, 0, sut)
    stalled_ms = pulse.sum_overlapping_stalls_ms(began_ms + since_ms, began_ms + until_ms)
    return Duration(until_ms - since_ms, stalled_ms, pulse.longest_stall_ms, sut)
