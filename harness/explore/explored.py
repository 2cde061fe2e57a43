"""Explore a system with walks (sequences of random steps), until the system behaves differently from the model in a
walk, or until a limit is reached.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from random import Random

from harness.capture.recorder import Recorder
from harness.errors import UsageError
from harness.explore.areas import ExplorableArea
from harness.explore.packet_rules import PacketJudgedSystem
from harness.explore.shrinking import shrink_walk
from harness.explore.walk import DrivenSystem, StepChooser, Walk, take_walk
from harness.model.remote.area import START_RECEIVE2_METHOD
from harness.model.remote.misuse import NEED_FOR_METHODS_OF_LATER_RELEASES
from harness.model.steps import Step
from harness.peer.peer import Peer
from harness.sut.drivers import SutDriver
from harness.sut.releases import does_release_lack_method
from harness.sut.sut import Sut

LONGEST_PAUSE_BETWEEN_STEPS_MS = 7_000
"""int ms: the length of the longest pause between two random steps on a system in real time."""
ReportProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExplorationLimits:
    """The limits of an exploration: the number of steps, and the time in minutes. ``seed`` is the seed of the random
    steps.
    """

    max_steps: int
    max_minutes: float | None = None
    seed: str = "1"


@dataclass(frozen=True, slots=True)
class ExplorationResult:
    """The result of an exploration. It contains the number of steps by transition, the walk (sequence of steps) in
    which the system diverged from the model (if any), and the capabilities and facilities that the system lacks for
    some transitions.
    """

    step_count_by_transition: Counter[str]
    missing_needs_by_transition: dict[str, list[str]]
    diverging_walk: Walk | None = None
    seed: str = ""

    @property
    def untaken_transitions(self) -> list[str]:
        """Return the transitions that the exploration could have taken, but that occurred in no sequence of steps."""
        return sorted(name for name, number in self.step_count_by_transition.items() if not number)


class AreaExplorer:
    """The explorer of one area of a system."""

    def __init__(self, driver: SutDriver, area: ExplorableArea) -> None:
        self._driver = driver
        self._area = area
        self._number = count()

    def explore(self, limits: ExplorationLimits, progress: ReportProgress) -> ExplorationResult:
        """Take walks (sequences of random steps) until the system diverges from the model or a limit is reached. A walk
        in which the system diverged is shortened.
        """
        until_s = None if limits.max_minutes is None else time.monotonic() + 60 * limits.max_minutes

        def may_continue() -> bool:
            return until_s is None or time.monotonic() < until_s

        drawing, lacking = self._build_step_chooser()
        drawing = replace(drawing, may_continue=may_continue)
        steps = Counter(dict.fromkeys(drawing.transition_names, 0))
        for number in count():
            if steps.total() >= limits.max_steps or not may_continue():
                return ExplorationResult(steps, lacking)
            seed = f"{limits.seed}-{number}"
            walk = self._take_walk(drawing.steps(Random(seed), self._area.walk_steps))  # noqa: S311 - the steps must be repeatable
            steps.update(step.name for step in walk.steps)
            progress(min(steps.total(), limits.max_steps), limits.max_steps)
            if walk.divergence is not None:
                return ExplorationResult(
                    steps, lacking, shrink_walk(self._area.model_class, walk, self.replay_steps), seed
                )
        raise AssertionError

    def replay_steps(self, steps: Sequence[Step]) -> Walk:
        """Take the given steps on a newly opened system."""
        return self._take_walk(steps)

    def _take_walk(self, steps: object) -> Walk:
        return take_walk(self._area.model_class, self._open_driven_system, steps)  # type: ignore[arg-type]

    def _build_step_chooser(self) -> tuple[StepChooser, dict[str, list[str]]]:
        with self._open_sut() as sut:
            drawing = StepChooser.from_model(self._area.model_class, partial(_has_needed_capability, sut))
            if not sut.environment.is_time_virtual:
                drawing = replace(drawing, longest_step_ms=LONGEST_PAUSE_BETWEEN_STEPS_MS)
            lacking = {
                name: sorted(need for need in one.needs if not _has_needed_capability(sut, need))
                for name, one in self._area.model_class.transitions.items()
                if name not in drawing.transition_names and one.weight
            }
        if not drawing.transition_names:
            needs = ", ".join(sorted({need for one in lacking.values() for need in one}))
            raise UsageError(f"this area cannot be explored: the system does not provide {needs}")
        return drawing, lacking

    @contextmanager
    def _open_driven_system(self) -> Iterator[DrivenSystem]:
        with self._open_sut() as sut:
            recorder = Recorder(sut.environment, None)
            if sut.tape is not None:
                sut.tape.begin(recorder, sut, "explore", "explore")
            with closing(Peer(sut.environment, sut, recorder, seed="explore")) as peer:
                yield PacketJudgedSystem(self._area.driven_system_class(peer), peer)

    @contextmanager
    def _open_sut(self) -> Iterator[Sut]:
        number = next(self._number)
        sut = self._driver.open("explore", f"explore {number}", number)
        with closing(sut.environment), closing(sut):
            yield sut


def _has_needed_capability(sut: Sut, need: str) -> bool:
    """Return whether a system has the capabilities and facilities that a transition needs."""
    return (
        not does_release_lack_method(sut, START_RECEIVE2_METHOD)
        if need == NEED_FOR_METHODS_OF_LATER_RELEASES
        else sut.has(need)
    )
