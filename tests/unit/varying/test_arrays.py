"""Covering arrays: every permitted combination of values of two or three parameters occurs in a row, and no row is
excluded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.varying.arrays import (
    CoveringArrayRow,
    build_covering_array,
    complete_row,
    is_allowed,
)
from harness.varying.parameters import EXCLUDED_COMBINATIONS, PARAMETERS

NAMES = "abcde"
TABLES = st.lists(st.integers(min_value=1, max_value=4), min_size=1, max_size=5).map(
    lambda sizes: {
        name: [f"{name}{number}" for number in range(size)] for name, size in zip(NAMES, sizes, strict=False)
    }
)


def all_rows(values: Mapping[str, Sequence[str]], excluded: Sequence[CoveringArrayRow]) -> list[CoveringArrayRow]:
    """Return every permitted row, found by trying all rows."""
    rows = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
    return [row for row in rows if is_allowed(row, excluded)]


def tuples_of(rows: Sequence[CoveringArrayRow], strength: int) -> set[tuple[tuple[str, str], ...]]:
    return {part for row in rows for part in combinations(row.items(), min(strength, len(row)))}


@st.composite
def excluding(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[CoveringArrayRow]]:
    """Draw a table, and excluded pairs of values that do not exclude the row of plain values."""
    values = draw(TABLES)
    pairs = [
        {one: x, other: y}
        for one, other in combinations(values, 2)
        for x in values[one]
        for y in values[other]
        if (x, y) != (values[one][0], values[other][0])
    ]
    return values, draw(st.lists(st.sampled_from(pairs), max_size=6)) if pairs else []


@pytest.mark.parametrize("strength", [2, 3])
@given(table=excluding())
def test_covering_array_has_every_allowed_combination_and_no_other(
    strength: int, table: tuple[dict[str, list[str]], list[CoveringArrayRow]]
) -> None:
    values, excluded = table
    rows = build_covering_array(values, excluded, strength)
    wanted = tuples_of(all_rows(values, excluded), strength)
    assert tuples_of(rows, strength) == wanted
    assert all(is_allowed(row, excluded) for row in rows)
    assert rows[0] == {name: ones[0] for name, ones in values.items()}
    assert len({tuple(row.items()) for row in rows}) == len(rows)


def test_covering_array_of_the_parameter_table_has_few_rows() -> None:
    values = {name: [value.name for value in ones] for name, ones in PARAMETERS.items()}
    rows = build_covering_array(values, EXCLUDED_COMBINATIONS)
    pairs = {
        ((one, x), (other, y)) for one, other in combinations(values, 2) for x in values[one] for y in values[other]
    }
    missing = {pair for pair in pairs if not any(dict(pair).items() <= row.items() for row in rows)}
    assert [pair for pair in missing if complete_row(dict(pair), values, EXCLUDED_COMBINATIONS) is not None] == []
    assert len(missing) == len(EXCLUDED_COMBINATIONS) + 2  # a transactional read has no priority either
    assert len(rows) < 24


def test_covering_array_of_ten_binary_parameters_has_eight_rows() -> None:
    assert len(build_covering_array({f"p{number}": ("0", "1") for number in range(10)})) == 8
