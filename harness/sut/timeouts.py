"""Determine how long to wait for a system, from the SUT file and from the speed of the system at the start of
the run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MEASURED_EXCHANGES = 5
BETWEEN_EXCHANGES_S = 0.25
"""The pause between the exchanges that measure the system's speed. The exchanges extend over a second, so that repeated
short stalls are also detected.
"""

LATE_AFTER_TIMEOUTS = 2
"""The number of response timeouts within which a packet counts as late, so that no rule fails; a later packet counts as
missing.
"""
LONGEST_TIMEOUT_MS = 60_000
"""int ms: the maximum of timeouts that are computed from a measurement."""
SLOW_ANSWER_FACTOR = 4
"""The minimum ratio of the response timeout to the duration of an answer: of the slowest answer, or of the fastest
answer if the system's pulse is measured.
"""
QUIET_FACTOR = 2
ACK_TIMEOUT_MS = 20_000
"""int ms: the shortest timer after which a queue manager stops waiting for its peer (MS-MQQB 2.2.2.1, note <51>)."""
SLOW_ANSWERS_IN_SHORTEST_TIMER = 1.25
"""The number of slowest answers that must fit into the shortest timer, however fast timers run."""
RETRY_SLOWDOWN_FACTOR = 4
"""The factor by which timers run more slowly when a check is repeated."""
SLOW_ANSWER_MS = 500
"""int ms: the duration above which an answer is slow, because the shortest timer of a queue manager is a second
(MS-MQQB 3.1.2.9).
"""
ANSWER_TIMES_PER_TIMER = 4
"""The number of slowest answers that must fit into a timer during which a check must act."""


@dataclass(frozen=True, slots=True)
class TimeoutsTable:
    """[timeouts]: ``factor`` multiplies the default timeouts; a value of 0 means that the timeout is computed from the
    default and from the measured answers. ``stall_ms``: the longest time without answers that counts as a stall.
    """

    factor: float = 1.0
    response_ms: int = 0
    quiet_ms: int = 0
    connect_ms: int = 0
    control_ms: int = 0
    stall_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class Speed:
    """The durations (ms) of the exchanges with which the harness measured the speed of the system."""

    samples_ms: tuple[int, ...]

    @property
    def median_ms(self) -> int:
        """Return the median duration."""
        return int(statistics.median(self.samples_ms))

    @property
    def fastest_ms(self) -> int:
        """Return the shortest duration, which contains no stall."""
        return min(self.samples_ms)

    @property
    def worst_ms(self) -> int:
        """Return the longest duration."""
        return max(self.samples_ms)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts that apply in a run. ``worst_ms``: the duration of the slowest answer; ``usual_ms``: the duration of
    a usual answer, without stalls.
    """

    response_ms: int
    quiet_ms: int
    connect_ms: int
    control_ms: int
    stall_ms: int
    worst_ms: int = 0
    usual_ms: int = 0
    calm: bool = False
    """Whether timers run more slowly than necessary, because a check is repeated after a failure."""

    def scale(self, wanted: int, answers: float = SLOW_ANSWERS_IN_SHORTEST_TIMER) -> int:
        """Return the factor by which timers may run faster than specified, so that answers still arrive before a timer
        expires.
        """
        fits = int(ACK_TIMEOUT_MS / max(1, answers * self.worst_ms))
        return max(1, min(wanted, fits) // (RETRY_SLOWDOWN_FACTOR if self.calm else 1))

    @property
    def slow(self) -> bool:
        """Whether answers take so long that timers may expire before the answers arrive."""
        return self.worst_ms >= SLOW_ANSWER_MS

    @property
    def late_ms(self) -> int:
        """int ms: how long to wait after the response timeout, to find out whether an answer is only late."""
        return (LATE_AFTER_TIMEOUTS - 1) * self.response_ms


VIRTUAL_TIMEOUTS = Timeouts(response_ms=2_000, quiet_ms=2_000, connect_ms=6_000, control_ms=10_000, stall_ms=0)
"""The timeouts in virtual time, in which answers take no time."""
REAL_TIMEOUTS = Timeouts(response_ms=3_000, quiet_ms=1_500, connect_ms=6_000, control_ms=10_000, stall_ms=30_000)
QUIET_CONTROLLED_MS = 250
"""int ms: the silence window for a program with a control channel on the tester's machine, which is rarely late. Any
other system may be a second late.
"""


def compute_timeouts(
    table: TimeoutsTable, *, controlled: bool, speed: Speed | None = None, felt: bool = False
) -> Timeouts:
    """Return the timeouts of a run in real time. ``felt``: whether the system's pulse is measured; timeouts then need
    not include stalls.
    """
    worst_ms = speed.worst_ms if speed else 0
    usual_ms = speed.fastest_ms if speed and felt else worst_ms

    def choose_timeout_ms(given_ms: int, default_ms: int, measured_ms: int) -> int:
        return given_ms or max(int(default_ms * table.factor), min(measured_ms, LONGEST_TIMEOUT_MS))

    return Timeouts(
        response_ms=choose_timeout_ms(table.response_ms, REAL_TIMEOUTS.response_ms, SLOW_ANSWER_FACTOR * usual_ms),
        quiet_ms=choose_timeout_ms(
            table.quiet_ms, QUIET_CONTROLLED_MS if controlled else REAL_TIMEOUTS.quiet_ms, QUIET_FACTOR * usual_ms
        ),
        connect_ms=choose_timeout_ms(table.connect_ms, REAL_TIMEOUTS.connect_ms, SLOW_ANSWER_FACTOR * usual_ms),
        control_ms=choose_timeout_ms(table.control_ms, REAL_TIMEOUTS.control_ms, SLOW_ANSWER_FACTOR * usual_ms),
        stall_ms=table.stall_ms,
        worst_ms=worst_ms,
        usual_ms=usual_ms,
    )


def measure_speed(exchange: Callable[[], object]) -> Speed | None:
    """Measure the duration of several exchanges; return None when an exchange was not answered."""
    samples = []
    for number in range(MEASURED_EXCHANGES):
        if number:
            time.sleep(BETWEEN_EXCHANGES_S)
        began = time.monotonic()
        if exchange() is None:
            return None
        samples.append(int((time.monotonic() - began) * 1_000))
    return Speed(tuple(samples))


def report_timeouts(speeds: Sequence[Speed | None], timeouts: Timeouts) -> dict[str, Any]:
    """Return the timeouts for run.json; with several workers, the timeouts for the slowest SUT."""
    known = [speed for speed in speeds if speed is not None]
    slowest = max(known, key=lambda speed: speed.worst_ms, default=None)
    measured = None
    if slowest is not None:
        measured = {
            "median_ms": slowest.median_ms,
            "worst_ms": slowest.worst_ms,
            "samples_ms": list(slowest.samples_ms),
        }
    return {"measured": measured, "in_force": asdict(timeouts), "late_multiple": LATE_AFTER_TIMEOUTS}


def describe_timeouts(reported: dict[str, Any]) -> str:
    """Return one line that describes the timeouts."""
    measured, in_force = reported["measured"], reported["in_force"]
    answered = (
        f"answers in {measured['median_ms']} ms, at worst {measured['worst_ms']} ms" if measured else "not measured"
    )
    return f"{answered}; waits {in_force['response_ms']} ms for an answer, {in_force['quiet_ms']} ms for silence"
