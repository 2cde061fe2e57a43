"""The worlds of an exploration: one model for each set of readings that agrees with the observations."""

from __future__ import annotations

from typing import Any

from harness.explore.worlds import MAX_AGREEING_MODELS, AgreeingModels, StepObservation
from harness.model.steps import Model, Step, transition


class Choosing(Model):
    """A model in which every step adds a choice, and no observation decides a choice."""

    def describe_visible_state(self) -> dict[str, Any]:
        return {}

    @transition("MQDMPR-3.1.7.1.16-05", needs=())
    def choose(self, name: str) -> None:
        self.choose_reading(name)


def test_step_that_leads_to_too_many_worlds_is_not_taken_and_walk_continues() -> None:
    worlds = AgreeingModels(Choosing)
    taken = [worlds.take_step(Step("choose", {"name": str(number)})) for number in range(12)]
    choices = MAX_AGREEING_MODELS.bit_length() - 1
    assert taken == [True] * choices + [False] * (12 - choices)
    assert worlds.take_step(Step("choose", {"name": "0"}))
    assert worlds.keep_agreeing_models(StepObservation({}, {})) is None
    assert worlds.first.steps == choices + 1
