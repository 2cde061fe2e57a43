"""The smallest combination of values that fails, found from failing and passing rows and by further runs with parts of
a row.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.varying.arrays import CoveringArrayRow, build_covering_array
from harness.varying.shrinking import find_smallest_failing_values_of_row

VALUES = dict.fromkeys("abcdef", ("0", "1"))
ROWS = build_covering_array(VALUES)
PLAIN = ROWS[0]


def shrink(breaks: Callable[[CoveringArrayRow], bool]) -> tuple[CoveringArrayRow, int]:
    """Return the smallest combination with which a system fails, and the number of further runs. ``breaks``: whether
    the system fails with a row.
    """
    failing = next(row for row in ROWS if breaks(row))
    runs: list[CoveringArrayRow] = []

    def fails(row: CoveringArrayRow) -> bool:
        runs.append(row)
        return breaks(row)

    return find_smallest_failing_values_of_row(failing, PLAIN, [row for row in ROWS if not breaks(row)], fails), len(
        runs
    )


@pytest.mark.parametrize("name", "abcdef")
def test_shrinking_names_a_single_value_that_fails_alone(name: str) -> None:
    part, runs = shrink(lambda row: row[name] == "1")
    assert part == {name: "1"}
    assert runs <= 2


def test_shrinking_names_a_failing_pair_of_values() -> None:
    part, runs = shrink(lambda row: row["b"] == row["e"] == "1")
    assert part == {"b": "1", "e": "1"}
    assert runs <= 6


def test_shrinking_names_the_whole_combination_that_fails_only_once() -> None:
    failing = next(row for row in ROWS if row["a"] == row["b"] == "1")
    part = find_smallest_failing_values_of_row(failing, PLAIN, [PLAIN], lambda row: False)
    assert part == {name: value for name, value in failing.items() if value == "1"}
