"""What each run changed, for the first page and the pages of runs: numbers, and some rules by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reports.model import Change

RULES_NAMED = 20
"""Rules of a run and a kind of change that pages name; the table of changes has all."""
KINDS_OF_CHANGE = ("newly failing", "newly passing", "changed", "added", "removed")
"""In the order in which pages show them."""


@dataclass(slots=True)
class News:
    """The changes of one run: how many of each kind, and the first of each."""

    counts: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[Change]] = field(default_factory=dict)

    def note(self, change: Change) -> None:
        """Count a change in."""
        self.counts[change.change] += 1
        named = self.named.setdefault(change.change, [])
        if len(named) < RULES_NAMED:
            named.append(change)

    @property
    def kinds(self) -> list[str]:
        """The kinds of change that there are."""
        return [kind for kind in KINDS_OF_CHANGE if self.counts[kind]]
