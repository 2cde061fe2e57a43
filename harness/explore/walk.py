"""A walk: steps of a model, taken by a system beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from harness.errors import SutUnavailable
from harness.explore.worlds import Divergence, Seen, Worlds
from harness.judging.robustness import FINDINGS, Condition
from harness.model.steps import Model, Step

CRASH = FINDINGS[Condition.CRASHED][0]


class Driven(Protocol):
    """A system under test that takes the steps of a model."""

    def take(self, step: Step, awaited: Set[str]) -> Seen:
        """Take a step; return what is seen afterwards. ``awaited``: the answers to wait for."""


Open = Callable[[], AbstractContextManager[Driven]]
"""Opens the system for one walk, as if it were new."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken, with the answers that were expected and those that came."""

    step: Step
    expected: Mapping[str, Any]
    observed: Mapping[str, Any]


@dataclass(slots=True)
class Walk:
    """The steps that were taken, and the divergence that ended them."""

    taken: list[Taken] = field(default_factory=list)
    divergence: Divergence | None = None

    @property
    def steps(self) -> list[Step]:
        return [one.step for one in self.taken]


def go(kind: type[Model], open_system: Open, steps: Iterable[Step] | Callable[[Worlds], Iterator[Step]]) -> Walk:
    """Take steps, drawn or given, until one diverges; what cannot be taken is left out."""
    worlds, walk = Worlds(kind), Walk()
    with open_system() as system:
        for step in steps(worlds) if callable(steps) else steps:
            if not worlds.take(step):
                continue
            expected = worlds.first.answers
            try:
                seen = system.take(step, worlds.awaited())
            except SutUnavailable as lost:
                walk.taken.append(Taken(step, expected, {}))
                walk.divergence = Divergence(step, (CRASH,), (str(lost),))
                break
            walk.taken.append(Taken(step, expected, seen.answers))
            walk.divergence = worlds.agree(seen)
            if walk.divergence is not None:
                break
    return walk


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn: the transitions that the system has the means for."""

    names: list[str]
    weights: list[int]

    @classmethod
    def of(cls, kind: type[Model], has: Callable[[str], bool]) -> Drawing:
        """Return the transitions that a system can be asked for."""
        found = [one for one in kind.transitions.values() if all(map(has, one.needs))]
        return cls([one.name for one in found], [kind.weights.get(one.name, one.weight) for one in found])

    def steps(self, chance: Random, number: int) -> Callable[[Worlds], Iterator[Step]]:
        """Return what draws so many steps."""

        def draw(worlds: Worlds) -> Iterator[Step]:
            for _ in range(number):
                yield worlds.draw(chance, self.names, self.weights)

        return draw


def count(walks: Iterable[Walk]) -> Counter[str]:
    """Count the steps of walks by transition."""
    return Counter(step.name for walk in walks for step in walk.steps)
