"""Stores the current verdict of every rule for every system, each in one octet, so that the verdicts for 200 systems
with 3,000 rules need 600 kB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.vocabulary import VERDICT_NAMES

_NOT_JUDGED_CODE = 255
_CODE_BY_VERDICT = {name: code for code, name in enumerate(VERDICT_NAMES)}


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """A table of the verdicts for rules that are not retired.

    ``index_by_rule``: the index of each rule. ``rows``: the verdicts of each system, by the key of the system.
    """

    index_by_rule: dict[str, int]
    rows: dict[str, bytearray]

    @classmethod
    def create_empty(cls, rules: Sequence[str], systems: Iterable[str]) -> VerdictTable:
        """Return a table without verdicts. The order of ``rules`` matters: rules that are counted together must be
        adjacent.
        """
        places = {rule: place for place, rule in enumerate(rules)}
        return cls(places, {key: bytearray([_NOT_JUDGED_CODE]) * len(rules) for key in systems})

    def record_verdict(self, system: str, verdict: str, rules: Iterable[str]) -> None:
        """Store one verdict of a system for all of the given rules."""
        row, code = self.rows[system], _CODE_BY_VERDICT[verdict]
        for rule in rules:
            row[self.index_by_rule[rule]] = code

    def get(self, system: str, rule: str) -> str | None:
        """Return the verdict of a system for a rule, or None for an unjudged or unknown rule."""
        place = self.index_by_rule.get(rule)
        code = _NOT_JUDGED_CODE if place is None else self.rows[system][place]
        return None if code == _NOT_JUDGED_CODE else VERDICT_NAMES[code]

    def row(self, system: str) -> list[str | None]:
        """Return the verdicts of a system, in the order of the rules."""
        return [None if code == _NOT_JUDGED_CODE else VERDICT_NAMES[code] for code in self.rows[system]]

    def counts(self, system: str, start: int = 0, stop: int | None = None) -> Counter[str]:
        """Count the verdicts of a system for a range of rules (end exclusive)."""
        part = self.rows[system][start:stop]
        return Counter({VERDICT_NAMES[code]: part.count(code) for code in set(part) if code != _NOT_JUDGED_CODE})
