"""Collect the missing roots on which the verdicts of a run rest; each root is named once, before the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.printable import one_line
from harness.rules.renamed_checks import current_check

SAID_LIMIT = 800
LINE_PREFIX = "fix this first: "


@dataclass(slots=True)
class NamedRoot:
    """A missing root. ``said``: the finding with its remedy. ``checks``: the checks that depend on the root."""

    said: str
    checks: set[str] = field(default_factory=set)

    @property
    def found(self) -> str:
        """The line that is printed when the root is found, without the number of checks, which is not known yet."""
        return f"{LINE_PREFIX}{self.said}"

    def __str__(self) -> str:
        """Return the line for the end of the run, with the number of checks."""
        count = len(self.checks)
        resting = f" ({count:,} {'check rests' if count == 1 else 'checks rest'} on it)" if count else ""
        return f"{self.found}{resting}"


@dataclass(slots=True)
class NamedRoots:
    """The missing roots of a run, by subject. For each subject, only the first text is shown."""

    by_subject: dict[str, NamedRoot] = field(default_factory=dict)

    def name(self, subject: str, said: str, checks: Iterable[str]) -> None:
        """Record a missing root, and the checks that depend on it."""
        root = self.by_subject.setdefault(subject, NamedRoot(one_line(said, SAID_LIMIT)))
        root.checks.update(checks)

    def take(self, others: NamedRoots) -> None:
        """Add the missing roots that a worker found."""
        for subject, root in others.by_subject.items():
            self.name(subject, root.said, root.checks)

    def root_of(self, test: str | None) -> NamedRoot | None:
        """Return the first missing root on which a check rests, or None; ``test``: the id of the check, or the end of
        the id.
        """
        if test is None:
            return None
        resting = (root for root in self.by_subject.values() if any(check.endswith(test) for check in root.checks))
        return next(resting, None)

    def lines(self) -> list[str]:
        """Return the line of each missing root, for the beginning of a run's summary."""
        return [str(root) for root in self.by_subject.values()]

    def describe_dependent_rules(self, rules: Sequence[str], shown: int | None = None) -> str:
        """Return the line about the rules that are inconclusive because of missing roots; it names all rules, or the
        first ``shown``.
        """
        checks = len(set[str]().union(*(root.checks for root in self.by_subject.values())))
        counts = f"{len(rules):,} rule{'s' if len(rules) != 1 else ''} in {checks:,} check{'s' if checks != 1 else ''}"
        left = len(rules) - len(rules[:shown])
        more = f" and {left:,} more" if left else ""
        return f"inconclusive because of root causes: {counts}: {', '.join(rules[:shown])}{more}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the missing roots in the form that run.json stores."""
        return [
            {"root": subject, "said": root.said, "checks": sorted(root.checks)}
            for subject, root in self.by_subject.items()
        ]

    @classmethod
    def from_json(cls, tree: Iterable[Mapping[str, Any]]) -> NamedRoots:
        """Read the missing roots from run.json; raise KeyError or TypeError when the entry is broken."""
        found = cls()
        for one in tree:
            checks = (current_check(str(check)) for check in one["checks"])
            found.name(str(one["root"]), str(one["said"]), checks)
        return found
