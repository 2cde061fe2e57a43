"""Keep every model that agrees with all observations. The models differ in their readings (interpretations) of passages
that the specifications leave open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from harness.model.agreement import describe_difference
from harness.model.steps import ImpossibleStep, InterpretationNotChosenYet, Model, Step

MAX_AGREEING_MODELS = 512
"""The maximum number of models that may agree with the observations after a step. A step that would lead to more models
is not taken.
"""


@dataclass(frozen=True, slots=True)
class RuleBrokenByPacket:
    """A rule that a packet from the system has broken."""

    rule: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class StepObservation:
    """The observation after a step. It consists of the answers received, everything visible, and the rules that a
    packet has broken.
    """

    answers: Mapping[str, Any]
    visible_state: Mapping[str, Any]
    broken_rules: tuple[RuleBrokenByPacket, ...] = ()


@dataclass(frozen=True, slots=True)
class DivergingStep:
    """A step after which no model agrees with the system. ``differences`` describes how the observation differs from
    what one of the models expects.
    """

    step: Step
    rules: tuple[str, ...]
    differences: tuple[str, ...]


class AgreeingModels:
    """All models that agree with the observations so far.

    A world consists of the readings that it has chosen and of the steps from the start. When a step requires a new
    choice, the class creates one world for each reading, and takes all steps again in each new world.
    """

    def __init__(self, kind: type[Model]) -> None:
        self._kind = kind
        self._past_steps: list[Step] = []
        self._models = [kind()]

    @property
    def first(self) -> Model:
        """The first of the models that agree with all observations so far."""
        return self._models[0]

    def draw_step(self, chance: Random, names: list[str], weights: Sequence[float]) -> Step:
        """Return a random step that the first model can take."""
        return self.first.draw_step(chance, names, weights)

    def take_step(self, step: Step) -> bool:
        """Take a step in every model. If a model cannot take the step, or if there would be more than
        ``MAX_AGREEING_MODELS`` models after the step, change nothing and return False.
        """
        after = self._list_models_after_step(step)
        if after is None:
            return False
        self._models = after
        self._past_steps.append(step)
        return True

    def can_take_step(self, step: Step) -> bool:
        """Return whether ``take_step`` would accept a step: each model permits the step, and the step leads to at most
        ``MAX_AGREEING_MODELS`` models. Nothing changes.
        """
        decisions = [dict(world.decisions) for world in self._models]
        possible = self._list_models_after_step(step) is not None
        self._models = [self._replay_past_steps(one) for one in decisions]
        return possible

    def _list_models_after_step(self, step: Step) -> list[Model] | None:
        """Return the models that a step leads to, without changing anything. Return None if ``take_step`` cannot take
        the step.
        """
        decisions = [dict(world.decisions) for world in self._models]
        try:
            after = list(islice(self._generate_models_after_step(step), MAX_AGREEING_MODELS + 1))
        except ImpossibleStep:
            after = []
        if 0 < len(after) <= MAX_AGREEING_MODELS:
            return after
        self._models = [self._replay_past_steps(one) for one in decisions]
        return None

    def _generate_models_after_step(self, step: Step) -> Iterator[Model]:
        for world in self._models:
            yield from self._apply_step(world, step)

    def list_awaited_answers(self) -> set[str]:
        """Return the names of the answers that at least one model expects now."""
        return {name for world in self._models for name in world.answers}

    def keep_agreeing_models(self, seen: StepObservation) -> DivergingStep | None:
        """Keep only the models that agree with the observation. Return the difference if no model agrees with it, or if
        a packet has broken a rule.
        """
        if seen.broken_rules:
            found = [f"{one.rule}: expected: {one.expected}; observed: {one.observed}" for one in seen.broken_rules]
            return DivergingStep(self._past_steps[-1], tuple(one.rule for one in seen.broken_rules), tuple(found))
        left, differences = [], []
        for world in self._models:
            found = _list_differences(world, seen)
            if found:
                differences.append((world, found))
            else:
                left.append(world)
        if left:
            self._models = left
            return None
        world, found = min(differences, key=lambda one: len(one[1]))
        return DivergingStep(self._past_steps[-1], tuple(world.cited_rules), tuple(found))

    def _apply_step(self, world: Model, step: Step) -> list[Model]:
        try:
            world.take(step)
        except InterpretationNotChosenYet as open_:
            decisions = [{**world.decisions, open_.choice: reading} for reading in range(open_.readings)]
            return [after for one in decisions for after in self._apply_step(self._replay_past_steps(one), step)]
        return [world]

    def _replay_past_steps(self, decisions: Mapping[str, int]) -> Model:
        world = self._kind(decisions)
        for step in self._past_steps:
            world.take(step)
        return world


def _list_differences(world: Model, seen: StepObservation) -> list[str]:
    found = [describe_difference(world.answers, seen.answers)]
    unexpected: Sequence[str] = [name for name in seen.answers if name not in world.answers]
    found += [f"{name}: expected: no answer yet; observed: {seen.answers[name]}" for name in unexpected]
    visible = world.describe_visible_state()
    found += [describe_difference({name: value}, seen.visible_state) for name, value in visible.items()]
    return [one for one in found if one is not None]
