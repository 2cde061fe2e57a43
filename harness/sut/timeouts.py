"""Determine how long to wait for a system. The timeouts are computed from the SUT file and from the speed of the
system at the start of the run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

NUMBER_OF_MEASURED_EXCHANGES = 5
PAUSE_BETWEEN_EXCHANGES_S = 0.25
"""The pause between the exchanges that measure the system's speed. With these pauses, the exchanges extend over a
second, so that repeated short stalls are also detected.
"""

LATE_ANSWER_LIMIT_IN_TIMEOUTS = 2
"""A packet that misses the response timeout but arrives within this number of response timeouts counts as late, and no
rule fails because of it. A packet that arrives even later counts as missing.
"""
LONGEST_TIMEOUT_MS = 60_000
"""int ms: the maximum of a timeout that is computed from a measurement."""
SLOW_ANSWER_FACTOR = 4
"""The minimum ratio of the response timeout to the measured duration of an answer. This is the duration of the slowest
answer or, if the system's pulse is measured, of the fastest answer.
"""
SILENCE_WINDOW_FACTOR = 2
ACK_TIMEOUT_MS = 20_000
"""int ms: the shortest timer after which a queue manager stops waiting for its peer (MS-MQQB 2.2.2.1, note <51>)."""
SLOW_ANSWERS_IN_SHORTEST_TIMER = 1.25
"""The minimum ratio of the shortest timer to the duration of the slowest answer. It limits how fast timers may run."""
RETRY_SLOWDOWN_FACTOR = 4
"""The factor by which timers are slowed down when a check is repeated."""
SLOW_ANSWER_MS = 500
"""int ms: the duration from which an answer counts as slow. The shortest timer of a queue manager is a second
(MS-MQQB 3.1.2.9).
"""
ANSWER_TIMES_PER_TIMER = 4
"""The minimum ratio of a timer to the duration of the slowest answer if a check must act before the timer expires."""


@dataclass(frozen=True, slots=True)
class TimeoutsTable:
    """The table [timeouts]. ``factor`` multiplies the default timeouts. A timeout of 0 is computed from the default
    and from the measured answers. ``stall_ms`` is the longest time without answers that counts as a stall.
    """

    factor: float = 1.0
    response_ms: int = 0
    quiet_ms: int = 0
    connect_ms: int = 0
    control_ms: int = 0
    stall_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class SpeedMeasurement:
    """The durations (ms) of the exchanges with which the harness measured the speed of the system."""

    samples_ms: tuple[int, ...]

    @property
    def median_ms(self) -> int:
        """Return the median duration."""
        return int(statistics.median(self.samples_ms))

    @property
    def fastest_ms(self) -> int:
        """Return the shortest duration. It is assumed to contain no stall."""
        return min(self.samples_ms)

    @property
    def worst_ms(self) -> int:
        """Return the longest duration."""
        return max(self.samples_ms)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts that apply in a run. ``worst_ms`` is the duration of the slowest answer. ``usual_ms`` is the
    duration of a usual answer, without stalls.
    """

    response_ms: int
    quiet_ms: int
    connect_ms: int
    control_ms: int
    stall_ms: int
    worst_ms: int = 0
    usual_ms: int = 0
    calm: bool = False
    """Whether timers run more slowly than necessary because a check is repeated after a failure."""

    def scale(self, wanted: int, answers: float = SLOW_ANSWERS_IN_SHORTEST_TIMER) -> int:
        """Return the factor by which timers run faster than specified. The factor is at most ``wanted``, and is
        limited so that answers still arrive before a timer expires.
        """
        fits = int(ACK_TIMEOUT_MS / max(1, answers * self.worst_ms))
        return max(1, min(wanted, fits) // (RETRY_SLOWDOWN_FACTOR if self.calm else 1))

    @property
    def are_answers_slow(self) -> bool:
        """Whether answers take so long that timers may expire before the answers arrive."""
        return self.worst_ms >= SLOW_ANSWER_MS

    @property
    def late_answer_wait_ms(self) -> int:
        """int ms: how long to wait after the response timeout in order to determine whether an answer is late or
        missing.
        """
        return (LATE_ANSWER_LIMIT_IN_TIMEOUTS - 1) * self.response_ms


VIRTUAL_TIMEOUTS = Timeouts(response_ms=2_000, quiet_ms=2_000, connect_ms=6_000, control_ms=10_000, stall_ms=0)
"""The timeouts in virtual time, in which answers take no time."""
REAL_TIMEOUTS = Timeouts(response_ms=3_000, quiet_ms=1_500, connect_ms=6_000, control_ms=10_000, stall_ms=30_000)
SILENCE_WINDOW_WITH_CONTROL_MS = 250
"""int ms: the silence window for a program on the tester's machine that has a control channel. Such a program is
rarely late; any other system may be a second late.
"""


def compute_timeouts(
    table: TimeoutsTable, *, controlled: bool, speed: SpeedMeasurement | None = None, is_pulse_measured: bool = False
) -> Timeouts:
    """Return the timeouts of a run in real time. ``is_pulse_measured`` states whether the pulse of the system is
    measured. If it is measured, the timeouts need not allow for stalls.
    """
    worst_ms = speed.worst_ms if speed else 0
    usual_ms = speed.fastest_ms if speed and is_pulse_measured else worst_ms

    def choose_timeout_ms(given_ms: int, default_ms: int, measured_ms: int) -> int:
        return given_ms or max(int(default_ms * table.factor), min(measured_ms, LONGEST_TIMEOUT_MS))

    return Timeouts(
        response_ms=choose_timeout_ms(table.response_ms, REAL_TIMEOUTS.response_ms, SLOW_ANSWER_FACTOR * usual_ms),
        quiet_ms=choose_timeout_ms(
            table.quiet_ms,
            SILENCE_WINDOW_WITH_CONTROL_MS if controlled else REAL_TIMEOUTS.quiet_ms,
            SILENCE_WINDOW_FACTOR * usual_ms,
        ),
        connect_ms=choose_timeout_ms(table.connect_ms, REAL_TIMEOUTS.connect_ms, SLOW_ANSWER_FACTOR * usual_ms),
        control_ms=choose_timeout_ms(table.control_ms, REAL_TIMEOUTS.control_ms, SLOW_ANSWER_FACTOR * usual_ms),
        stall_ms=table.stall_ms,
        worst_ms=worst_ms,
        usual_ms=usual_ms,
    )


def measure_speed(exchange: Callable[[], object]) -> SpeedMeasurement | None:
    """Measure the duration of several exchanges. Return None if an exchange was not answered."""
    samples = []
    for number in range(NUMBER_OF_MEASURED_EXCHANGES):
        if number:
            time.sleep(PAUSE_BETWEEN_EXCHANGES_S)
        began = time.monotonic()
        if exchange() is None:
            return None
        samples.append(int((time.monotonic() - began) * 1_000))
    return SpeedMeasurement(tuple(samples))


def report_timeouts(speeds: Sequence[SpeedMeasurement | None], timeouts: Timeouts) -> dict[str, Any]:
    """Return the timeouts for run.json. If there are several workers, return the timeouts for the slowest SUT."""
    known = [speed for speed in speeds if speed is not None]
    slowest = max(known, key=lambda speed: speed.worst_ms, default=None)
    measured = None
    if slowest is not None:
        measured = {
            "median_ms": slowest.median_ms,
            "worst_ms": slowest.worst_ms,
            "samples_ms": list(slowest.samples_ms),
        }
    return {"measured": measured, "in_force": asdict(timeouts), "late_multiple": LATE_ANSWER_LIMIT_IN_TIMEOUTS}


def describe_timeouts(reported: dict[str, Any]) -> str:
    """Return a one-line description of the timeouts."""
    measured, in_force = reported["measured"], reported["in_force"]
    answered = (
        f"answers in {measured['median_ms']} ms, at worst {measured['worst_ms']} ms" if measured else "not measured"
    )
    return f"{answered}; waits {in_force['response_ms']} ms for an answer, {in_force['quiet_ms']} ms for silence"
