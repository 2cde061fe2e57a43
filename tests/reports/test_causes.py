"""Which findings share a cause: the reports and the harness give the same answer."""

from pathlib import Path

import pytest
from made import CONTOSO, contents, rule, run, standing

from harness.judging.verdicts import Verdict
from harness.run import causes as of_harness
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult
from harness.wire.value_names import with_names
from reports import causes as of_reports
from reports.captures import CaptureStore
from reports.model import RootCause
from reports.site.pages import SitePageWriter

CHECK, OTHER = "suites/a/test_a.py::test_queue[0]", "suites/a/test_a.py::test_other"
BAD_QUEUE = "['0x8000']"


def grouped(*findings, roots=()):
    """Group findings (verdict, test, observed, reason) by cause; return the titles and the rules. ``roots``: root
    causes (said, checks).
    """
    of_run, missing = RootCauses(), [RootCause(said, frozenset(checks)) for said, checks in roots]
    for number, (said, checks) in enumerate(roots):
        of_run.name(f"root {number}", said, checks)
    contained = contents([CONTOSO], [], [], [run("r1", CONTOSO, roots=tuple(missing))])
    get_root_cause = SitePageWriter(contained, Path("/nowhere"), CaptureStore(Path("/nowhere"), {}.get)).get_root_cause
    named = [(rule(number), *one) for number, one in enumerate(findings, 1)]
    standings = [
        standing(of, CONTOSO, verdict, test=test, observed=observed, reason=reason, expected="e")
        for of, verdict, test, observed, reason in named
    ]
    lines = [
        RuleResult(of.rule, Verdict(verdict), {"test": test or None, "observed": observed, "reason": reason or None})
        for of, verdict, test, observed, reason in named
    ]
    reported = [
        (cause.title, [one.rule for one in cause.findings])
        for cause in of_reports.group_findings_by_cause(standings, with_names, get_root_cause)
    ]
    causes = of_harness.group_by_cause(lines, of_run)
    assert reported == [(cause.title, [one.rule for one in cause.findings]) for cause in causes]
    return [(title, [int(name[-2:]) for name in rules]) for title, rules in reported]


def test_rules_of_one_check_with_same_observation_share_a_cause():
    assert grouped(("fail", CHECK, BAD_QUEUE, ""), ("fail", CHECK.replace("0", "1"), BAD_QUEUE, "")) == [
        ("2 rules: observed 0x8000 NackBadDestQueue", [1, 2])
    ]


def test_checks_with_the_same_observation_share_a_cause_and_the_largest_cause_comes_first():
    found = grouped(("fail", OTHER, "kept open", ""), ("fail", CHECK, BAD_QUEUE, ""), ("fail", OTHER, BAD_QUEUE, ""))
    assert found == [
        ("2 rules: observed 0x8000 NackBadDestQueue", [2, 3]),
        ("1 rule: observed kept open", [1]),
    ]


@pytest.mark.parametrize("observed", ["[]", "False", "['6f63716d666e']", "17", "[[], ['l']]"])
def test_unspecific_observation_is_a_cause_only_within_one_check(observed):
    found = grouped(("fail", CHECK, observed, ""), ("fail", OTHER, observed, ""), ("fail", CHECK, observed, ""))
    assert [rules for _, rules in found] == [[1, 3], [2]]


def test_undecided_rule_has_its_reason_as_cause():
    why = "queues.plain is not there"
    assert grouped(
        ("inconclusive", CHECK, "", why), ("inconclusive", OTHER, "", why), ("inconclusive", "", "", why)
    ) == [(f"3 rules: {why}", [1, 2, 3])]


def test_rule_that_depends_on_missing_root_has_the_root_as_cause():
    said = "queues: plain private$\\mqc-plian: there is no such queue"
    found = grouped(
        ("fail", CHECK, BAD_QUEUE, ""),
        ("inconclusive", CHECK, "", f"{said}; one came late"),
        ("inconclusive", OTHER, "[]", f"{said}; none came"),
        ("inconclusive", "suites/a/test_a.py::test_third", "", "it was slow"),
        roots=[(said, [CHECK, OTHER])],
    )
    assert found == [
        (f"2 rules: {said}", [2, 3]),
        ("1 rule: observed 0x8000 NackBadDestQueue", [1]),
        ("1 rule: it was slow", [4]),
    ]


def test_findings_with_different_verdicts_or_empty_observations_are_not_grouped():
    found = grouped(
        ("fail", CHECK, "open", ""), ("warn", CHECK, "open", ""), ("fail", "", "", ""), ("fail", "", "", "")
    )
    assert [rules for _, rules in found] == [[1], [2], [3], [4]]
    assert found[2][0] == "1 rule: no reason is known"
