"""Find the changes between two runs, rule by rule (``mqconform diff RUN_A RUN_B``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.judging.verdicts import Verdict
from harness.results.run_results import RunResults
from harness.run.results import RuleResult


class ChangeKind(StrEnum):
    """The ways in which the verdict for a rule may differ between two runs, the worst first."""

    NEWLY_FAILING = "newly failing"
    FAILING_MORE = "failing in more checks"
    NEWLY_PASSING = "newly passing"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


WORSE_CHANGE_KINDS = (ChangeKind.NEWLY_FAILING, ChangeKind.FAILING_MORE)


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """The final verdicts for a rule in both runs; a verdict is None if the run has no verdict for the rule.
    ``checks``: the checks in which the rule fails only in the second run.
    """

    kind: ChangeKind
    rule: str
    before: RuleResult | None
    after: RuleResult | None
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The difference between two runs: for each rule, in the order of rule ids, how its verdict changed."""

    first_run: RunResults
    second_run: RunResults
    steps: tuple[VerdictChange, ...]

    def list_changes_of_kind(self, kind: ChangeKind) -> list[VerdictChange]:
        """Return the verdict changes of the given kind."""
        return [step for step in self.steps if step.kind is kind]

    @property
    def is_worse(self) -> bool:
        """Whether the second run has a failure that the first run does not have."""
        return any(step.kind in WORSE_CHANGE_KINDS for step in self.steps)


def compare_runs(a: RunResults, b: RunResults) -> RunDifference:
    """Compare two runs. A rule that only one of the runs judged counts as added, removed or newly failing. A rule that
    a partial run did not judge therefore never counts as better.
    """
    return RunDifference(a, b, tuple(_compare_rule(a, b, rule) for rule in sorted(a.rules.keys() | b.rules.keys())))


def _compare_rule(a: RunResults, b: RunResults, rule: str) -> VerdictChange:
    before, after = a.rules.get(rule), b.rules.get(rule)
    checks = tuple(
        sorted(b.failing_checks_by_rule.get(rule, frozenset()) - a.failing_checks_by_rule.get(rule, frozenset()))
    )
    return VerdictChange(_classify_change(before, after, more=bool(checks)), rule, before, after, checks)


def _classify_change(before: RuleResult | None, after: RuleResult | None, *, more: bool) -> ChangeKind:
    if after is None:
        return ChangeKind.REMOVED
    if before is None:
        return ChangeKind.NEWLY_FAILING if after.verdict is Verdict.FAIL else ChangeKind.ADDED
    if before.verdict is after.verdict:
        return ChangeKind.FAILING_MORE if more else ChangeKind.UNCHANGED
    return {Verdict.FAIL: ChangeKind.NEWLY_FAILING, Verdict.PASS: ChangeKind.NEWLY_PASSING}.get(
        after.verdict, ChangeKind.CHANGED
    )
