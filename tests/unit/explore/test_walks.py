"""Walks: a system is compared with all possible worlds, and a difference is shortened to the shortest sequence that no
world permits.
"""

from __future__ import annotations

from contextlib import nullcontext
from random import Random

import pytest
from counting import Counter, Counting, add, opening

from harness.errors import SutUnavailable
from harness.explore.shrinking import shrink_walk
from harness.explore.walk import RULE_BROKEN_BY_CRASH, StepChooser, take_walk
from harness.explore.worlds import StepObservation
from harness.model.steps import Step


@pytest.mark.parametrize("jumps", [(), (3,), (7,), (3, 7)])
def test_explored_system_may_follow_any_reading_of_an_erratum(jumps):
    assert take_walk(Counter, opening(*jumps), add(1, 2, 1, 1, 2, 1, 2)).divergence is None


def test_explored_system_must_keep_the_erratum_reading_it_followed():
    class Fickle(Counting):
        numbers = iter((4, "done", 5))

        def take(self, step, awaited):
            number = next(self.numbers)
            return StepObservation({"answer": number}, {"number": 0 if number == "done" else number})

    walk = take_walk(Counter, lambda: nullcontext(Fickle(set(), 0)), [*add(4), Step("reset"), *add(4)])
    assert walk.divergence is not None
    assert walk.divergence.differences == (
        "answer: expected 4; observed 5",
        "number: expected 4; observed 5",
    )


def test_a_divergence_names_the_rules_of_its_transition():
    walk = take_walk(Counter, opening(wrong=5), add(2, 2, 2, 2, 1))
    assert walk.divergence is not None
    assert walk.divergence.rules == ("COUNT-1", "COUNT-BY-2")
    assert walk.steps == add(2, 2, 2, 2)


def test_exploration_step_that_cannot_be_taken_is_left_out():
    assert take_walk(Counter, opening(), [Step("reset"), *add(1)]).steps == add(1)


def test_explored_system_that_ends_counts_as_divergence():
    class Ending(Counting):
        def take(self, step, awaited):
            raise SutUnavailable("it ended")

    walk = take_walk(Counter, lambda: nullcontext(Ending(set(), 0)), add(1))
    assert walk.divergence is not None
    assert (walk.divergence.rules, walk.divergence.differences) == ((RULE_BROKEN_BY_CRASH,), ("it ended",))


def test_diverging_sequence_is_shrunk_to_necessary_steps():
    open_system = opening(3, wrong=5)
    drawing = StepChooser.from_model(Counter, lambda need: True)
    walk = take_walk(Counter, open_system, drawing.steps(Random(3), 200))
    assert walk.divergence is not None
    shrunk = shrink_walk(Counter, walk, lambda steps: take_walk(Counter, open_system, steps))
    assert [one for one in shrunk.steps if one.name == "reset"] == []
    assert sum(one.arguments["by"] for one in shrunk.steps[:-1]) == 5
    assert shrunk.steps[-1:] == add(2)


def test_exploration_step_unsupported_by_system_is_not_drawn():
    assert StepChooser.from_model(Counter, lambda need: False).transition_names == ["add"]
