"""Collects the changes of verdicts that each run caused, for the first page and for the pages of runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reports.model import Change

MAX_NAMED_RULES = 20
"""The maximum number of rules that a page names for each run and kind of change. The table of changes contains all of
them.
"""
KINDS_OF_CHANGE = ("newly failing", "newly passing", "changed", "added", "removed")
"""The kinds of change in display order."""


@dataclass(slots=True)
class VerdictChangesOfRun:
    """The changes of verdicts by one run: for each kind of change, the number of changes and the first rules."""

    counts: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[Change]] = field(default_factory=dict)

    def note(self, change: Change) -> None:
        """Count one change."""
        self.counts[change.change] += 1
        named = self.named.setdefault(change.change, [])
        if len(named) < MAX_NAMED_RULES:
            named.append(change)

    @property
    def kinds(self) -> list[str]:
        """The kinds of change that occurred, in display order."""
        return [kind for kind in KINDS_OF_CHANGE if self.counts[kind]]
