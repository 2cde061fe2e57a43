"""Group findings that share a cause, because correcting this cause removes all of the findings in the group.

The reports group findings in the same way for their pages (`reports.causes`). The two packages do not import each
other, so each has its own implementation; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.judging.verdicts import RUN_FAILING_VERDICTS, VERDICTS_OF_BROKEN_RULES, Verdict
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult

_EXPLAINING_WORD_PATTERN = re.compile(r"\b(?!True\b|False\b|None\b|nothing\b)[A-Za-z]{3,}\b")
"""Matches a word in an observation. An observation that contains words describes an error. An observation without
words, such as a number or an empty list, does not reveal the cause.
"""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """A group of findings that have the same verdict and the same cause, in the order of their lines. ``seen`` is
    the text that all of these findings contain.
    """

    findings: tuple[RuleResult, ...]
    seen: str

    @property
    def title(self) -> str:
        """The number of rules with this cause, and the observation. The title contains no number of checks, because
        a cause contains only the worst verdict of each rule.
        """
        rules = len(self.findings)
        return f"{rules} rule{'s' if rules > 1 else ''}: {self.seen}"


def group_by_cause(findings: Iterable[RuleResult], roots: RootCauses) -> list[FindingGroup]:
    """Group findings by cause. The groups are sorted by size, the largest first; groups of the same size are in the
    order in which their first findings are given. A finding without a common cause forms its own group.

    Undecided verdicts share a cause if they have the same reason, or the same root cause (a missing prerequisite, from
    ``roots``). Failures share a cause if they have the same observation. If the observation contains no words (such as
    a number), the failures must also be from the same check.
    """
    groups: dict[tuple[str, ...], list[RuleResult]] = {}
    seen: dict[tuple[str, ...], str] = {}
    for one in findings:
        observed, reason = one.observed, find_root_cause_of_finding(one, roots) or one.line["reason"] or ""
        decided = one.verdict in VERDICTS_OF_BROKEN_RULES and bool(one.line["observed"])
        words = observed if decided else reason or observed
        alone = "" if not decided or _EXPLAINING_WORD_PATTERN.search(words) else get_function_id(one)
        key = (one.verdict, words, alone) if words else (one.verdict, words, one.rule)
        groups.setdefault(key, []).append(one)
        seen[key] = f"observed {words}" if decided else words or "no reason is known"
    causes = [FindingGroup(tuple(some), seen[key]) for key, some in groups.items()]
    return sorted(causes, key=lambda cause: -len(cause.findings))


def find_root_cause_of_finding(result: RuleResult, roots: RootCauses) -> str:
    """Return the root cause (missing prerequisite) of a finding, or an empty string if the finding has no known
    root cause.
    """
    root = roots.find_root_cause_of_check(result.line["test"]) if result.verdict is Verdict.INCONCLUSIVE else None
    return root.finding_text if root is not None else ""


def add_shared_causes_to_results(results: Iterable[RuleResult], roots: RootCauses) -> list[RuleResult]:
    """Return the final verdicts of all rules. If a finding shares its cause with other findings, the returned
    verdict names the cause.
    """
    kept = list(results)
    bad = [one for one in kept if one.verdict in RUN_FAILING_VERDICTS and one.reason_of_known_deviation is None]
    shared = [cause for cause in group_by_cause(bad, roots) if len(cause.findings) > 1]
    titles = {one.rule: cause.title for cause in shared for one in cause.findings}
    return [replace(one, shared_cause=titles.get(one.rule, "")) for one in kept]


def get_function_id(result: RuleResult) -> str:
    """Return the id of the finding's check without parameters, or an empty string if the finding is about the run."""
    path, colons, name = (result.line["test"] or "").partition("::")
    return f"{path}::{name.partition('[')[0]}" if colons else path.partition("[")[0]
