"""Find the smallest combination of values with which a check fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from harness.varying.arrays import CoveringArrayRow

MAX_VALUES_IN_SMALLEST_PART = 3
"""The maximum number of values in a reduced combination. If no combination of at most this size fails, the verdict
names the complete row.
"""


def find_smallest_failing_values_of_row(
    failing: CoveringArrayRow,
    plain: CoveringArrayRow,
    passing: Sequence[CoveringArrayRow],
    fails: Callable[[CoveringArrayRow], bool],
) -> CoveringArrayRow:
    """Return the smallest part of a failing row with which the check still fails if all other values are defaults.

    ``fails``: a function that runs the check with a row, and returns whether the check fails. A part that occurs in a
    passing row cannot be the cause of the failure, so it is not tried.
    """
    for part in list_suspected_combinations(failing, plain, passing):
        if fails({**plain, **part}):
            return part
    return {name: value for name, value in failing.items() if plain[name] != value}


def list_suspected_combinations(
    failing: CoveringArrayRow, plain: CoveringArrayRow, passing: Sequence[CoveringArrayRow]
) -> Iterator[CoveringArrayRow]:
    """Yield the parts of a failing row that no passing row contains. The smallest parts come first."""
    changed = {name: value for name, value in failing.items() if plain[name] != value}
    for size in range(1, min(MAX_VALUES_IN_SMALLEST_PART, len(changed) - 1) + 1):
        for names in combinations(changed, size):
            part = {name: changed[name] for name in names}
            if not any(part.items() <= row.items() for row in passing):
                yield part
