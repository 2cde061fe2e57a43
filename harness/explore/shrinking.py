"""Make a diverging sequence of steps as short and as simple as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.explore.walk import Walk
from harness.model.steps import Model, Step

RepeatWalk = Callable[[Sequence[Step]], Walk]
"""The type of functions that take the given steps on a new system. Steps that the model cannot take are omitted."""
MAX_REPEATED_WALKS = 2_000


def shrink_walk(kind: type[Model], walk: Walk, attempt: RepeatWalk) -> Walk:
    """Return the shortest walk (sequence of steps) found in which the system diverges from the model at the same
    transition as in the given walk. Hypothesis cannot be used here: it shrinks only data that it generated, not a walk
    that was read from a file or taken over the wire.
    """
    assert walk.divergence is not None
    best, name, left = walk, walk.divergence.step.name, MAX_REPEATED_WALKS
    progress = True
    while progress:
        progress = False
        for candidate in _list_simpler_walks(kind, best):
            if left == 0:
                return best
            left -= 1
            found = attempt(candidate)
            if found.divergence is not None and found.divergence.step.name == name:
                best, progress = found, True
                break
    return best


def _list_simpler_walks(kind: type[Model], walk: Walk) -> Iterator[list[Step]]:
    """Yield sequences of steps (walks) that are simpler than the given one. The first of them omit many steps, later
    ones omit a few steps, and the last ones have simpler arguments.
    """
    steps = walk.steps
    length = len(steps) // 2
    while length:
        for start in range(0, len(steps), length):
            yield steps[:start] + steps[start + length :]
        length //= 2
    for place, step in enumerate(steps):
        simple = kind.transitions[step.name].simplest_arguments
        for argument, value in simple.items():
            if step.arguments[argument] != value:
                simpler = replace(step, arguments={**step.arguments, argument: value})
                yield [*steps[:place], simpler, *steps[place + 1 :]]
