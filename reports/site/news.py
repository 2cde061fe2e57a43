"""Collects the changes of each run for the first page and the pages of runs: numbers, and some rules by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reports.model import Change

RULES_NAMED = 20
"""The number of rules that pages name per run and kind of change; the table of changes has all."""
KINDS_OF_CHANGE = ("newly failing", "newly passing", "changed", "added", "removed")
"""The kinds of change in display order."""


@dataclass(slots=True)
class News:
    """The changes of one run: the number of each kind, and the first rules."""

    counts: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[Change]] = field(default_factory=dict)

    def note(self, change: Change) -> None:
        """Count a change."""
        self.counts[change.change] += 1
        named = self.named.setdefault(change.change, [])
        if len(named) < RULES_NAMED:
            named.append(change)

    @property
    def kinds(self) -> list[str]:
        """The existing kinds of change."""
        return [kind for kind in KINDS_OF_CHANGE if self.counts[kind]]
