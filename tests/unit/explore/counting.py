"""A minimal model and a minimal system for tests of exploration: a counter that may skip a number."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from random import Random
from typing import Any

from harness.explore.worlds import StepObservation
from harness.model.steps import ImpossibleStep, Model, Step, transition


class Counter(Model):
    """A counter with two choices: after 3 it may continue with 4 or with 5, and after 7 with 8 or with 9."""

    def __init__(self, decisions: Any = None) -> None:
        super().__init__(decisions)
        self.number = 0

    @transition("COUNT-1", needs=(), by=1)
    def add(self, by: int) -> None:
        self.cite_rules(f"COUNT-BY-{by}")
        crosses = [limit for limit in (3, 7) if self.number <= limit < self.number + by]
        self.number += by + sum(self.choose_reading(f"jump at {limit}") for limit in crosses)
        self.answers["answer"] = self.number

    def draw_add(self, chance: Random) -> dict[str, Any]:
        return {"by": chance.choice((1, 2))}

    @transition("COUNT-2", needs=("reset",))
    def reset(self) -> None:
        if self.number == 0:
            raise ImpossibleStep
        self.number = 0
        self.answers["answer"] = "done"

    def draw_reset(self, chance: Random) -> dict[str, Any]:
        return {}

    def describe_visible_state(self) -> dict[str, Any]:
        return {"number": self.number}


class Counting:
    """A system that counts. It skips a number after each of ``jumps``, and adds ``wrong`` too much when it adds 2 to a
    number above 5.
    """

    def __init__(self, jumps: Set[int], wrong: int) -> None:
        self.jumps, self.wrong, self.number = jumps, wrong, 0

    def elapsed_ms(self) -> None:
        return None

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        if step.name == "reset":
            self.number = 0
            return StepObservation({"answer": "done"}, {"number": 0})
        by = step.arguments["by"]
        jumps = sum(limit in self.jumps for limit in (3, 7) if self.number <= limit < self.number + by)
        self.number += by + jumps + (self.wrong if by == 2 and self.number > 5 else 0)
        return StepObservation({"answer": self.number}, {"number": self.number})


def opening(*jumps: int, wrong: int = 0):
    """Return a context manager that opens a counting system."""

    @contextmanager
    def open_system() -> Iterator[Counting]:
        yield Counting(set(jumps), wrong)

    return open_system


def add(*numbers: int) -> list[Step]:
    return [Step("add", {"by": number}) for number in numbers]
