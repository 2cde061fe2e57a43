"""The lines that a run prints during its checks, and its findings at the end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from harness.cli.run import run
from harness.judging.verdicts import RUN_FAILING_VERDICTS, Verdict
from harness.rules.catalogue import load_catalogue
from harness.run.findings import (
    RESUME_OPTIONS,
    build_repeat_options,
    build_rerun_command,
    build_resume_command,
    list_findings,
)
from harness.run.live import MAX_SHOWN_FINDINGS, PIPED_UPDATE_INTERVAL_S, LiveProgress
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult

RULES = load_catalogue()
RULE = "MQQB-2.1.2-01"


class Screen:
    """A replacement for pytest's terminal reporter, which records its lines."""

    def __init__(self, *, isatty: bool) -> None:
        self.isatty = isatty
        self.lines: list[str] = []
        self._tw = SimpleNamespace(fullwidth=80)

    def write_line(self, line: str) -> None:
        self.lines.append(line)

    def rewrite(self, line: str, *, erase: bool) -> None:
        assert erase
        self.lines.append(f"\r{line}")

    def flush(self) -> None:
        """Do nothing."""


class Watched:
    """A run of ``checks`` checks whose progress is printed, with its own clock."""

    def __init__(self, *, isatty: bool = False, checks: int = 100) -> None:
        self.rules: dict[str, Verdict] = {}
        self.now_s = 0.0
        self.screen = Screen(isatty=isatty)
        self.expected: set[str] = set()
        self.turned_bad: list[tuple[str, Verdict]] = []
        run: Any = SimpleNamespace(
            verdict_log=SimpleNamespace(rules=self.rules, turned_bad=self.turned_bad),
            catalogue=RULES,
            root_causes=RootCauses(),
            is_known_deviation=lambda rule, verdict: verdict is Verdict.FAIL and rule in self.expected,
        )
        self.live = LiveProgress(run, self.screen, lambda: self.now_s)
        session: Any = SimpleNamespace(items=[None] * checks)
        self.live.pytest_collection_finish(session)

    def check(self, took_s: float = 0.0, **verdicts: Verdict) -> list[str]:
        """End a check with verdicts; return the lines that this prints."""
        before = len(self.screen.lines)
        self.now_s += took_s
        found = {name.replace("_", "-"): verdict for name, verdict in verdicts.items()}
        self.turned_bad += [
            one for one in found.items() if one not in self.rules.items() and one[1] in RUN_FAILING_VERDICTS
        ]
        self.rules.update(found)
        self.live.pytest_runtest_logfinish("suites/mqqb/x/test_x.py::test_y")
        return self.screen.lines[before:]


def test_failed_rule_is_printed_once_immediately():
    watched = Watched()
    (line,) = watched.check(**{RULE: Verdict.FAIL})
    assert line.startswith(f"fail {RULE} (test_x.py::test_y)  {RULES[RULE].says}")
    assert watched.check(**{RULE: Verdict.FAIL}) == []
    assert watched.check(other=Verdict.PASS) == []


def test_live_output_omits_known_deviations():
    watched = Watched()
    watched.expected.add(RULE)
    assert watched.check(**{RULE: Verdict.FAIL}) == []


def test_live_output_to_file_is_one_line_per_half_minute():
    watched = Watched(checks=4)
    assert watched.check(took_s=PIPED_UPDATE_INTERVAL_S - 1) == []
    found = {"a": Verdict.PASS, "b": Verdict.NOT_EXERCISED}
    assert watched.check(took_s=1, **found) == [
        "2 of 4 checks, 1 rules judged; 0 min 30 s spent, about 0 min 30 s left"
    ], "a rule is judged when it is known what the system does"
    assert watched.check() == []


def test_terminal_updates_one_line_and_keeps_findings():
    watched = Watched(isatty=True, checks=2)
    assert watched.check(took_s=1) == ["\r1 of 2 checks, 0 rules judged; 0 min 1 s spent, about 0 min 1 s left"]
    first, end = watched.check(a=Verdict.FAIL)
    assert first.startswith("\rfail a ")
    assert end == ""


def test_live_findings_are_limited_to_a_screen():
    watched = Watched()
    lines = [line for number in range(MAX_SHOWN_FINDINGS + 9) for line in watched.check(**{f"r{number}": Verdict.FAIL})]
    assert len(lines) == MAX_SHOWN_FINDINGS + 1
    assert lines[-1].startswith("more than 50 bad verdicts")


@pytest.mark.parametrize(
    ("when", "outcome", "category"),
    [
        ("setup", "passed", ""),
        ("setup", "failed", "error"),
        ("setup", "skipped", "skipped"),
        ("call", "passed", "passed"),
        ("call", "failed", "failed"),
        ("teardown", "failed", "error"),
    ],
)
def test_live_output_counts_test_reports_as_pytest_does(when: str, outcome: str, category: str):
    report = SimpleNamespace(when=when, outcome=outcome, passed=outcome == "passed", failed=outcome == "failed")
    assert Watched().live.pytest_report_teststatus(report) == (category, "", "")


def result(rule: str, verdict: Verdict, **line: Any) -> RuleResult:
    usual = {"expected": "", "observed": "", "reason": None, "test": "suites/a.py::b", "capture": None, "evidence": []}
    return RuleResult(rule, verdict, usual | line)


def test_live_findings_are_listed_worst_first_with_repeat_command():
    seen = {"expected": "closed", "observed": "open\x1b[31m" + "x" * 999, "capture": "captures/a.pcapng"}
    lines = list(
        list_findings(
            [
                result("MQQB-2.1.2-D01", Verdict.INCONCLUSIVE, reason="it is slow"),
                result("MQQB-2.1.2-02", Verdict.PASS),
                result(RULE, Verdict.FAIL, evidence=[{"frame": 7}], **seen),
            ],
            RULES,
            build_repeat_options("my sut.toml", None),
            RootCauses(),
        )
    )
    assert [line[:60] for line in lines if not line.startswith(" ")] == [
        f"fail {RULE}  {RULES[RULE].says}"[:60],
        f"inconclusive MQQB-2.1.2-D01  {RULES['MQQB-2.1.2-D01'].says}"[:60],
    ]
    assert "    check:    suites/a.py::b; captures/a.pcapng, frame 7" in lines
    assert "    because:  it is slow" in lines
    assert f"    again: mqconform run --rule {RULE} --sut 'my sut.toml'" in lines
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) < 400


def test_resume_command_repeats_options_of_run():
    given = {
        **RESUME_OPTIONS,
        "--select": ["MQQB", "level=MUST"],
        "-k": "one or two",
        "--sut": "my sut.toml",
        "--workers": 4,
        "--allure": True,
    }
    assert build_resume_command(RESUME_OPTIONS, Path("x")) == "mqconform run --out x --resume"
    assert build_rerun_command(RESUME_OPTIONS | {"-k": "a b"}, None) == "mqconform run -k 'a b'"
    assert build_resume_command(given, Path("x")) == (
        "mqconform run --select MQQB --select level=MUST -k 'one or two' --sut 'my sut.toml' --workers 4 --allure "
        "--out x --resume"
    )


def test_resume_command_contains_every_relevant_option():
    app = typer.Typer()
    app.command("run")(run)
    options = {one.opts[0] for one in typer.main.get_command(app).params} - {
        "--install-completion",
        "--show-completion",
    }
    assert options == {*RESUME_OPTIONS, "--out", "--resume", "-v", "--format"}


def test_repeat_command_of_passive_rule_names_check_that_saw_the_failure():
    rule = next(name for name, row in RULES.items() if row.observe == "passive")
    lines = list(
        list_findings([result(rule, Verdict.FAIL, test="suites/a.py::test_b[0-x y]")], RULES, "--sut x", RootCauses())
    )
    assert "    again: mqconform run -k test_b --sut x" in lines


def test_findings_beyond_the_limit_are_listed_only_by_rule():
    lines = list(
        list_findings([result(f"R-{number:02}", Verdict.FAIL) for number in range(22)], {}, "--sut x", RootCauses())
    )
    assert lines[-1] == "fail also: R-20, R-21"


def test_live_findings_with_one_cause_are_grouped_without_repetition():
    seen = {"expected": "['0x8009']", "observed": "['0x8000']"}
    alone = result("R-00", Verdict.FAIL, observed="kept open")
    shared = [result(f"R-{number:02}", Verdict.FAIL, **seen) for number in range(1, 8)]
    lines = list(list_findings([alone, *shared], {}, "--sut x", RootCauses()))
    assert lines[:5] == [
        "7 rules: observed 0x8000 NackBadDestQueue",
        "fail R-01",
        "    expected: 0x8009 NackNotTransactionalQueue",
        "    observed: 0x8000 NackBadDestQueue",
        "    check:    suites/a.py::b",
    ]
    assert lines[6:12] == [
        "fail R-02",
        "fail R-03",
        "fail R-04",
        "fail R-05",
        "fail for the same cause: R-06, R-07",
        "fail R-00",
    ]
    assert "    observed: kept open" in lines


def test_live_output_only_names_rules_that_depend_on_a_missing_root():
    roots = RootCauses()
    roots.name("peer reached", "no connection", ["suites/a.py::b"])
    roots.name("peer reached", "no connection, otherwise said", ["suites/a.py::c"])
    resting = result("MQQB-2.1.2-D01", Verdict.INCONCLUSIVE, reason="no connection")
    lines = list(list_findings([result(RULE, Verdict.FAIL), resting], RULES, "--sut x", roots))
    assert lines[:3] == [
        "fix this first: no connection (2 checks depend on it)",
        "inconclusive because of root causes: 1 rule in 2 checks: MQQB-2.1.2-D01",
        f"fail {RULE}  {RULES[RULE].says}",
    ]
    assert RootCauses.from_json(roots.to_json()) == roots
