"""The expectation that several values, such as handles or identifiers, are all different."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from harness.expectations.base import Expectation, ExpectationDifference, is_collection, show_nested_value, show_value


class DistinctValues(Expectation):
    """The expectation of ``count`` different values that are not in ``unlike``.

    A difference names the repeated values and the forbidden values, or reports that the number of values is wrong.
    """

    def __init__(self, of: str, count: int, unlike: Collection[Any]) -> None:
        self.of = of
        self.count = count
        self.unlike = unlike

    def __str__(self) -> str:
        others = f" other than {' or '.join(map(show_nested_value, self.unlike))}" if self.unlike else ""
        return f"{self.count} different {self.of}{others}"

    def show(self, observed: Any) -> str:
        return f"{self.of} {show_value(observed)}" if is_collection(observed) else show_value(observed)

    def compare(self, observed: Any) -> ExpectationDifference | None:
        if not is_collection(observed):
            return ExpectationDifference(self.show(observed))
        found = list(observed)
        wrong = [
            *(f"{show_nested_value(one)} is repeated" for at, one in enumerate(found) if one in found[:at]),
            *(f"{show_nested_value(one)} is not allowed" for one in found if one in self.unlike),
            *([f"{len(found)} instead of {self.count}"] if len(found) != self.count else []),
        ]
        return ExpectationDifference(f"{self.show(found)} ({', '.join(wrong)})") if wrong else None


def distinct_values(of: str, count: int, *, unlike: Collection[Any] = ()) -> DistinctValues:
    """Return the expectation of ``count`` different values that are not in ``unlike``: ``distinct_values("handles", 4,
    unlike=[0])``.
    """
    return DistinctValues(of, count, unlike)
