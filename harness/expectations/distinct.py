"""Expectations of several values that are all different: handles, identifiers, numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from harness.expectations.base import Difference, Expectation, is_several, show_value, within


class Distinct(Expectation):
    """So many values, no two the same; ``unlike``: values that none of them has.

    A difference names those that came again, those that no item may have, and how many are missing.
    """

    def __init__(self, of: str, count: int, unlike: Collection[Any]) -> None:
        self.of = of
        self.count = count
        self.unlike = unlike

    def __str__(self) -> str:
        others = f", none of them {' or '.join(map(within, self.unlike))}" if self.unlike else ""
        return f"{self.count} different {self.of}{others}"

    def compare(self, observed: Any) -> Difference | None:
        if not is_several(observed):
            return Difference(self.show(observed))
        found = list(observed)
        wrong = [
            *(f"{within(one)} came again" for at, one in enumerate(found) if one in found[:at]),
            *(f"{within(one)} is not allowed" for one in found if one in self.unlike),
            *([f"{len(found)} of {self.count}"] if len(found) != self.count else []),
        ]
        return Difference(f"{show_value(found)} ({', '.join(wrong)})") if wrong else None


def distinct(of: str, count: int, *, unlike: Collection[Any] = ()) -> Distinct:
    """Expect so many values, no two of them equal: ``distinct("handles", 4, unlike=[0])``."""
    return Distinct(of, count, unlike)
