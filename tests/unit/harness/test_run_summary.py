"""The summary of a run as one page of Markdown, and the CI jobs that show it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.judging.verdicts import Verdict
from harness.results.run_results import RunResults
from harness.results.summary import MAX_SHOWN_RULES, build_summary, escape_markdown, unescape_markdown
from harness.run.results import RuleResult

CATALOGUE: Any = {"MQQB-2.1.2-01": SimpleNamespace(says="A response comes where it was asked from.")}


def result(rule: str, verdict: Verdict, **line: Any) -> RuleResult:
    usual = {"expected": "", "observed": "", "reason": None, "test": "suites/a.py::b", "capture": None, "evidence": []}
    return RuleResult(rule, verdict, usual | line)


def page(*results: RuleResult, **run: Any) -> str:
    usual = {
        "run": "r",
        "harness": "0.1.0",
        "reach": "external",
        "finished": "x",
        "sut": {"name": "<b>contoso</b>", "version": "1|2", "profile": "none"},
    }
    rules = {one.rule: one for one in results}
    return build_summary(RunResults(Path("/nowhere"), usual | run, rules, {}, frozenset({"t"})), CATALOGUE)


def test_summary_page_has_counts_and_failures():
    text = page(
        result("MQQB-2.1.2-01", Verdict.FAIL, expected="port 3527", observed="`rm -rf`|<script>"),
        result("MQQB-2.1.2-02", Verdict.PASS),
        result("MQMQ-2.2-01", Verdict.PASS),
    )
    assert text.startswith("# MSMQ conformance: \\<b\\>contoso\\</b\\> 1\\|2\n")
    assert "| document | fail | pass |\n| --- | ---: | ---: |\n| MQMQ | 0 | 1 |\n| MQQB | 1 | 1 |\n" in text
    row = "| MQQB-2.1.2-01 | A response comes where it was asked from. | port 3527 | \\`rm -rf\\`\\|\\<script\\> |"
    assert row in text
    assert "The run is partial" not in text
    assert "Known deviations" not in text


def test_summary_groups_rules_with_one_cause():
    wrong = {"expected": "['0x8009']", "observed": "['0x8000']"}
    text = page(
        result("MQQB-2.1.2-01", Verdict.FAIL, observed="kept open"),
        result("MQMQ-2.2-01", Verdict.FAIL, **wrong),
        result("MQMQ-2.2-02", Verdict.FAIL, **wrong),
    )
    cause = "**2 rules: observed 0x8000 NackBadDestQueue**"
    places = [text.index(words) for words in ("## fail: 3", cause, "| MQMQ-2.2-01", "**single causes**", "| MQQB-2.1")]
    assert places == sorted(places)
    assert "| 0x8009 NackNotTransactionalQueue | 0x8000 NackBadDestQueue |" in text


def test_summary_begins_with_missing_roots_and_names_dependent_rules():
    root = {"root": "queues plain", "said": "queues: plain: there is no such queue", "checks": ["suites/a.py::b"]}
    text = page(
        result("MQQB-2.1.2-01", Verdict.INCONCLUSIVE, reason="queues: plain: there is no such queue; none came"),
        result("MQMQ-2.2-01", Verdict.FAIL, observed="open", test="suites/a.py::c"),
        roots=[root],
    )
    first, second = (line for line in text.splitlines()[2:5] if line)
    assert first == "**fix this first: queues: plain: there is no such queue (1 check depends on it)**"
    assert second == "inconclusive because of root causes: 1 rule in 1 check: MQQB-2.1.2-01"
    assert "## inconclusive" not in text
    assert "## fail: 1" in text


def test_summary_states_partial_run_and_known_deviations():
    baseline = {"expected": {"MQQB-2.1.2-01": {"reason": "since *1998*"}}, "stale": ["MQQB-2.1.2-02"]}
    text = page(result("MQQB-2.1.2-01", Verdict.FAIL), selection="-k x", baseline=baseline)
    assert "**The run is partial: only -k x.**" in text
    assert "## fail" not in text
    assert (
        "## Known deviations: 1\n\n| rule | why it is accepted |\n| --- | --- |\n| MQQB-2.1.2-01 | since \\*1998\\* |"
        in text
    )
    assert "no longer failing: MQQB-2.1.2-02" in text


def test_hostile_text_gives_no_ci_command_in_summary():
    """Hostile text in a summary gives no command to a CI job, which would interpret lines that begin with ::, and no
    escape sequence to a terminal.
    """
    hostile = "x\x1b[2J\n::set-output name=a::b"
    text = page(
        result("MQQB-2.1.2-01", Verdict.FAIL, observed=hostile, test=hostile),
        run=hostile,
        harness=hostile,
        sut={"name": hostile, "version": hostile, "profile": hostile},
        baseline={"expected": {}, "stale": [hostile]},
        aborted=hostile,
    )
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("::")] == []


def test_summary_counts_findings_beyond_its_limit():
    text = page(*(result(f"MQQB-2.1.2-{number}", Verdict.INCONCLUSIVE) for number in range(MAX_SHOWN_RULES + 3)))
    assert text.count("| suites/a.py") == MAX_SHOWN_RULES
    assert text.endswith("\nand 3 more\n")


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("private$\\mqc-plian", "private$\\mqc-plian"),
        ("suites/a_b/test_c.py::test_d_e[0]", "suites/a_b/test_c.py::test_d_e\\[0\\]"),
        ("expected: 1 (in 2 packets)", "expected: 1 (in 2 packets)"),
        ("\\_a_", "\\\\\\_a\\_"),
        ("https://x", "https\\://x"),
        ("a :bug: here", "a \\:bug: here"),
        ("*b* `c` <d> | &e; ~f~ @g #1", "\\*b\\* \\`c\\` \\<d\\> \\| \\&e; \\~f\\~ \\@g \\#1"),
        ("a\\", "a\\\\"),
    ],
)
def test_summary_escapes_only_markdown_syntax(text: str, markdown: str):
    assert escape_markdown(text) == markdown
    assert unescape_markdown(markdown) == text
