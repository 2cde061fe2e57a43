"""Take a walk. A walk is a sequence of steps that are taken on a model and on a system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from harness.errors import SutUnavailable
from harness.explore.worlds import AgreeingModels, DivergingStep, StepObservation
from harness.judging.robustness import FINDING_BY_CONDITION, SystemCondition
from harness.model.steps import Model, Step

_MAX_LAG_OF_MODEL_MS = 500
_IDLE_STEP_MS = 1_000
_DRAWN_WEIGHT_FACTORS = (0.25, 1, 1, 4)
"""The factors by which the weights of transitions are multiplied. For each walk (sequence of random steps), each
transition gets a random factor, so that different walks repeat different transitions (swarm testing).
"""
RULE_BROKEN_BY_CRASH = FINDING_BY_CONDITION[SystemCondition.CRASHED][0]


class DrivenSystem(Protocol):
    """The interface of a system under test that takes the steps of a model."""

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Take a step; return the observation after the step. ``awaited``: the names of the answers for which to
        wait.
        """

    def elapsed_ms(self) -> int | None:
        """Return the real time since the start (int ms), or None in an environment in which only steps take time."""

    def idle(self, ms: int) -> None:
        """Let real time pass."""


OpenDrivenSystem = Callable[[], AbstractContextManager[DrivenSystem]]
"""The type of functions that bring the system into the state of a new system, and open it for one walk."""


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step that was taken, with the expected and the observed answers."""

    step: Step
    expected: Mapping[str, Any]
    observed: Mapping[str, Any]


@dataclass(slots=True)
class Walk:
    """The steps that were taken so far on the model and the system, and the difference between both after the last
    step, if any.
    """

    taken_steps: list[TakenStep] = field(default_factory=list)
    divergence: DivergingStep | None = None

    @property
    def steps(self) -> list[Step]:
        return [one.step for one in self.taken_steps]


def take_walk(
    kind: type[Model], open_system: OpenDrivenSystem, steps: Iterable[Step] | Callable[[AgreeingModels], Iterator[Step]]
) -> Walk:
    """Take the given steps, or steps drawn at random, until the system behaves differently from the model. Steps that
    the model cannot take are omitted.
    """
    worlds, walk = AgreeingModels(kind), Walk()
    with open_system() as system:
        for step in _add_elapse_steps(worlds, system, steps(worlds) if callable(steps) else steps):
            if not worlds.take_step(step):
                continue
            expected = worlds.first.answers
            try:
                seen = system.take(step, worlds.list_awaited_answers())
            except SutUnavailable as lost:
                walk.taken_steps.append(TakenStep(step, expected, {}))
                walk.divergence = DivergingStep(step, (RULE_BROKEN_BY_CRASH,), (str(lost),))
                break
            walk.taken_steps.append(TakenStep(step, expected, seen.answers))
            walk.divergence = worlds.keep_agreeing_models(seen)
            if walk.divergence is not None:
                break
    return walk


def _add_elapse_steps(worlds: AgreeingModels, system: DrivenSystem, steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps of a walk (sequence of steps). If more time has passed in the system than in the model, first
    yield a step that lets this time pass in the model.
    """
    for step in steps:
        while (
            elapsed_ms := system.elapsed_ms()
        ) is not None and elapsed_ms - worlds.first.now_ms > _MAX_LAG_OF_MODEL_MS:
            behind = Step("elapse", {"ms": elapsed_ms - worlds.first.now_ms})
            if worlds.can_take_step(behind):
                yield behind
            else:  # a wait or a message ends about now, or has just ended
                system.idle(_IDLE_STEP_MS)
        yield step


@dataclass(frozen=True, slots=True)
class StepChooser:
    """A random choice of steps from the transitions that the system supports. ``may_continue``: whether to choose a
    further step. ``longest_step_ms``: the length of the longest pause, or None if there is no limit.
    """

    transition_names: list[str]
    transition_weights: list[int]
    may_continue: Callable[[], bool] = lambda: True
    longest_step_ms: int | None = None

    @classmethod
    def from_model(cls, kind: type[Model], has: Callable[[str], bool]) -> StepChooser:
        """Return a ``StepChooser`` of the transitions that a system supports."""
        drawn = [
            one for one in kind.transitions.values() if kind.weights_of_inherited_transitions.get(one.name, one.weight)
        ]
        found = [one for one in drawn if all(map(has, one.needs))]
        return cls(
            [one.name for one in found],
            [kind.weights_of_inherited_transitions.get(one.name, one.weight) for one in found],
        )

    def steps(self, chance: Random, number: int) -> Callable[[AgreeingModels], Iterator[Step]]:
        """Return a function that chooses the given number of steps at random."""

        def draw_step(worlds: AgreeingModels) -> Iterator[Step]:
            weights = [weight * chance.choice(_DRAWN_WEIGHT_FACTORS) for weight in self.transition_weights]
            for _ in range(number):
                if not self.may_continue():
                    return
                step = worlds.draw_step(chance, self.transition_names, weights)
                if self.longest_step_ms is None or step.arguments.get("ms", 0) <= self.longest_step_ms:
                    yield step

        return draw_step
