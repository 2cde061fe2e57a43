"""Collect the root causes (missing prerequisites) of inconclusive verdicts in a run. Each root cause is printed once,
before the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.printable import one_line
from harness.rules.renamed_checks import get_current_check

MAX_CHARACTERS_OF_ROOT_CAUSE = 800
ROOT_LINE_PREFIX = "fix this first: "


@dataclass(slots=True)
class RootCause:
    """A root cause: a missing prerequisite. ``finding_text`` is the finding with its remedy; ``checks`` are the checks
    that depend on this prerequisite.
    """

    finding_text: str
    checks: set[str] = field(default_factory=set)

    @property
    def line_when_found(self) -> str:
        """The line that is printed when the root cause is found. It does not contain the number of affected checks,
        which is not known yet.
        """
        return f"{ROOT_LINE_PREFIX}{self.finding_text}"

    def __str__(self) -> str:
        """Return the line for the end of the run, with the number of affected checks."""
        count = len(self.checks)
        dependent = f" ({count:,} {'check depends' if count == 1 else 'checks depend'} on it)" if count else ""
        return f"{self.line_when_found}{dependent}"


@dataclass(slots=True)
class RootCauses:
    """The root causes (missing prerequisites) of a run, by subject. If several texts about a subject are recorded,
    only the first is shown.
    """

    root_cause_by_subject: dict[str, RootCause] = field(default_factory=dict)

    def name(self, subject: str, said: str, checks: Iterable[str]) -> None:
        """Record a root cause, and the checks that it affects."""
        root = self.root_cause_by_subject.setdefault(subject, RootCause(one_line(said, MAX_CHARACTERS_OF_ROOT_CAUSE)))
        root.checks.update(checks)

    def take(self, others: RootCauses) -> None:
        """Add the root causes that a worker found."""
        for subject, root in others.root_cause_by_subject.items():
            self.name(subject, root.finding_text, root.checks)

    def find_root_cause_of_check(self, test: str | None) -> RootCause | None:
        """Return the first root cause that affects a check, or None. ``test`` is the id of the check, or the last part
        of this id.
        """
        if test is None:
            return None
        affecting = (
            root for root in self.root_cause_by_subject.values() if any(check.endswith(test) for check in root.checks)
        )
        return next(affecting, None)

    def lines(self) -> list[str]:
        """Return a line for each root cause. The summary of a run begins with these lines."""
        return [str(root) for root in self.root_cause_by_subject.values()]

    def describe_dependent_rules(self, rules: Sequence[str], shown: int | None = None) -> str:
        """Return a line about the rules that are inconclusive because of root causes. The line lists all of these
        rules, or only the first ``shown`` of them.
        """
        checks = len(set[str]().union(*(root.checks for root in self.root_cause_by_subject.values())))
        counts = f"{len(rules):,} rule{'s' if len(rules) != 1 else ''} in {checks:,} check{'s' if checks != 1 else ''}"
        left = len(rules) - len(rules[:shown])
        more = f" and {left:,} more" if left else ""
        return f"inconclusive because of root causes: {counts}: {', '.join(rules[:shown])}{more}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the root causes in the form in which run.json stores them."""
        return [
            {"root": subject, "said": root.finding_text, "checks": sorted(root.checks)}
            for subject, root in self.root_cause_by_subject.items()
        ]

    @classmethod
    def from_json(cls, tree: Iterable[Mapping[str, Any]]) -> RootCauses:
        """Read the root causes from run.json. Raise KeyError or TypeError for an invalid entry."""
        found = cls()
        for one in tree:
            checks = (get_current_check(str(check)) for check in one["checks"])
            found.name(str(one["root"]), str(one["said"]), checks)
        return found
