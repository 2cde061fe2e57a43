"""Covering arrays: each allowed combination of values of any two (or three) parameters occurs in at least one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

from allpairspy import AllPairs

Row = Mapping[str, str]
"""The name of a value for each parameter."""


def build_rows(values: Mapping[str, Sequence[str]], excluded: Sequence[Row] = (), strength: int = 2) -> tuple[Row, ...]:
    """Return the rows; the first has the first value of each parameter. ``excluded``: combinations that no row has.

    The filter of the pairwise library loses combinations, so those that are missing are completed to rows here.
    """
    known = tuple((name, tuple(ones)) for name, ones in values.items())
    own = tuple(tuple(sorted(one.items())) for one in excluded if one.keys() <= values.keys())
    return _build(known, own, min(strength, len(known)))


@lru_cache(maxsize=1024)
def _build(
    known: tuple[tuple[str, tuple[str, ...]], ...], excluded: tuple[tuple[tuple[str, str], ...], ...], strength: int
) -> tuple[Row, ...]:
    values, banned = dict(known), [dict(one) for one in excluded]
    names = list(values)
    rows: list[Row] = [{name: ones[0] for name, ones in values.items()}]
    if strength >= 2:  # the library has no arrays of strength 1
        drawn = AllPairs(list(values.values()), filter_func=_is_allowed_by(names, banned), n=strength)
        rows += [dict(zip(names, row, strict=True)) for row in drawn]
    rows = [row for number, row in enumerate(rows) if row not in rows[:number]]
    for tuple_ in list_tuples(values, banned, strength):
        if not any(tuple_.items() <= row.items() for row in rows):
            row = complete(tuple_, values, banned)
            assert row is not None
            rows.append(row)
    return tuple(rows)


def _is_allowed_by(names: Sequence[str], banned: Sequence[Row]) -> object:
    return lambda begun: is_allowed(dict(zip(names, begun, strict=False)), banned)


def is_allowed(row: Row, excluded: Sequence[Row]) -> bool:
    """Return whether a row, or a part of one, has no excluded combination."""
    return not any(one.items() <= row.items() for one in excluded)


def list_tuples(values: Mapping[str, Sequence[str]], excluded: Sequence[Row], strength: int) -> Iterator[Row]:
    """Yield the combinations of so many parameters that some allowed row has."""
    for names in combinations(values, strength):
        for ones in product(*(values[name] for name in names)):
            tuple_ = dict(zip(names, ones, strict=True))
            if complete(tuple_, values, excluded) is not None:
                yield tuple_


def complete(part: Row, values: Mapping[str, Sequence[str]], excluded: Sequence[Row]) -> Row | None:
    """Return an allowed row with this part, of the earliest values that there are; None without such a row."""
    if not is_allowed(part, excluded):
        return None
    name = next((name for name in values if name not in part), None)
    if name is None:
        return {name: part[name] for name in values}
    rows = (complete({**part, name: value}, values, excluded) for value in values[name])
    return next((row for row in rows if row is not None), None)
