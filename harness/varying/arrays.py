"""Build covering arrays. In a covering array, each allowed combination of values of any two (or three) parameters
occurs in at least one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

from allpairspy import AllPairs

CoveringArrayRow = Mapping[str, str]
"""The type of a row of a covering array. A row contains the name of the selected value of each parameter."""


def build_covering_array(
    values: Mapping[str, Sequence[str]],
    excluded: Sequence[CoveringArrayRow] = (),
    strength: int = 2,
    *,
    orders: int = 1,
) -> tuple[CoveringArrayRow, ...]:
    """Return the rows of a covering array. The first row has the first value of each parameter. ``excluded``:
    combinations that must not occur in a row.

    With its filter for excluded combinations, the pairwise library may miss allowed combinations, so this function adds
    rows that contain them. ``orders``: the number of parameter orders to try; the function returns the shortest array
    found.
    """
    known = tuple((name, tuple(ones)) for name, ones in values.items())
    own = tuple(tuple(sorted(one.items())) for one in excluded if one.keys() <= values.keys())
    return _build_array(known, own, min(strength, len(known)), min(orders, len(known)))


@lru_cache(maxsize=1024)
def _build_array(
    known: tuple[tuple[str, tuple[str, ...]], ...],
    excluded: tuple[tuple[tuple[str, str], ...], ...],
    strength: int,
    orders: int,
) -> tuple[CoveringArrayRow, ...]:
    values, banned = dict(known), [dict(one) for one in excluded]
    wanted = list(list_value_combinations(values, banned, strength))
    arrays = (_draw_row(dict((*known[by:], *known[:by])), values, banned, wanted) for by in range(orders))
    return min(arrays, key=len)


def _draw_row(
    ordered: Mapping[str, Sequence[str]],
    values: Mapping[str, Sequence[str]],
    banned: Sequence[CoveringArrayRow],
    wanted: list[CoveringArrayRow],
) -> tuple[CoveringArrayRow, ...]:
    """Return the default row, the rows that the pairwise library generates, and further rows for the combinations that
    are still missing. Together, these rows contain every wanted combination.
    """
    strength, names = len(wanted[0]), list(ordered)
    drawn: list[CoveringArrayRow] = [{name: ones[0] for name, ones in values.items()}]
    if strength >= 2:  # the library has no arrays of strength 1
        rows = AllPairs(list(ordered.values()), filter_func=_is_allowed_with(names, banned), n=strength)
        drawn += [_sort_values(dict(zip(names, row, strict=True)), values) for row in rows]
    found: list[CoveringArrayRow] = []
    missing = wanted
    for row in drawn:
        if not found or any(one.items() <= row.items() for one in missing):
            found.append(row)
            missing = [one for one in missing if not one.items() <= row.items()]
    while missing:
        made = complete_row(missing[0], values, banned)
        assert made is not None  # the combination is wanted, so an allowed row contains it
        found.append(made)
        missing = [one for one in missing if not one.items() <= made.items()]
    return tuple(_drop_needless_rows(found, wanted))


def _drop_needless_rows(rows: list[CoveringArrayRow], wanted: list[CoveringArrayRow]) -> list[CoveringArrayRow]:
    """Return the rows without those rows whose combinations all occur in other rows. The default row is never
    removed.
    """
    counts = {number: sum(one.items() <= row.items() for row in rows) for number, one in enumerate(wanted)}
    kept = list(rows)
    for row in reversed(rows[1:]):
        own = [number for number, one in enumerate(wanted) if one.items() <= row.items()]
        if all(counts[number] > 1 for number in own):
            kept.remove(row)
            for number in own:
                counts[number] -= 1
    return kept


def _sort_values(row: CoveringArrayRow, values: Mapping[str, Sequence[str]]) -> CoveringArrayRow:
    return {name: row[name] for name in values}


def _is_allowed_with(names: Sequence[str], banned: Sequence[CoveringArrayRow]) -> object:
    return lambda begun: is_allowed(dict(zip(names, begun, strict=False)), banned)


def is_allowed(row: CoveringArrayRow, excluded: Sequence[CoveringArrayRow]) -> bool:
    """Return whether a row, or a part of a row, contains no excluded combination."""
    return not any(one.items() <= row.items() for one in excluded)


def list_value_combinations(
    values: Mapping[str, Sequence[str]], excluded: Sequence[CoveringArrayRow], strength: int
) -> Iterator[CoveringArrayRow]:
    """Yield each combination of the values of ``strength`` parameters that occurs in an allowed row."""
    for names in combinations(values, strength):
        for ones in product(*(values[name] for name in names)):
            tuple_ = dict(zip(names, ones, strict=True))
            if complete_row(tuple_, values, excluded) is not None:
                yield tuple_


def complete_row(
    part: CoveringArrayRow, values: Mapping[str, Sequence[str]], excluded: Sequence[CoveringArrayRow]
) -> CoveringArrayRow | None:
    """Return an allowed row that contains the given part, or None if there is no such row. Each value that the part
    does not contain is the first possible value.
    """
    if not is_allowed(part, excluded):
        return None
    name = next((name for name in values if name not in part), None)
    if name is None:
        return {name: part[name] for name in values}
    rows = (complete_row({**part, name: value}, values, excluded) for value in values[name])
    return next((row for row in rows if row is not None), None)
