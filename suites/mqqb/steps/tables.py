"""Tables of what becomes of messages: (name of the message, what of its Fate, expected, numbers of rules)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from harness.run.marks import covers
from suites.mqqb.steps.secured import Fate

RULE = "MQQB-3.1.5.8.3-"
Row = tuple[str, str, Any, str]


def covers_table(table: Iterable[Row], *others: str) -> pytest.MarkDecorator:
    """Give the mark for the rules of a table, and others."""
    numbers = sorted({number for *_, text in table for number in text.split()})
    return covers(*(f"{RULE}{number}" for number in numbers), *others)


def judged(judge: Callable[..., bool], fates: Mapping[str, Fate], table: Iterable[Row]) -> None:
    """Judge every rule of a table."""
    for name, what, expected, numbers in table:
        fate = fates[name]
        observed = getattr(fate, what)
        for number in numbers.split():
            judge(
                f"{RULE}{number}",
                expected=f"{name}: {expected}",
                observed=f"{name}: {expected if observed == expected else observed}",
                evidence=fate.frames,
            )
