"""Known deviations, and the differences between two runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.results import update
from harness.errors import UsageError
from harness.judging.baseline import KnownDeviation, compare_with_deviations, load_baseline, write_baseline
from harness.judging.verdicts import Verdict
from harness.results.difference import ChangeKind, compare_runs
from harness.results.difference_shown import DIFFERENCE_FORMATTER_BY_NAME
from harness.results.run_results import read_run

RULES = ("MQQB-2.1.2-01", "MQQB-2.1.2-02", "MQQB-2.1.2-D01", "MQQB-2.2.2-01")
ONE, TWO, THREE, FOUR = RULES
KNOWN = {rule: KnownDeviation(rule, "since 1998") for rule in (ONE, TWO)}
LINES = "suites/mqqb/test_a.py::"


# -- baselines --------------------------------------------------------------------------------------------------------


def test_failed_rules_are_expected_or_new_and_passed_baseline_entries_stale():
    stands = {ONE: Verdict.FAIL, TWO: Verdict.PASS, THREE: Verdict.FAIL, FOUR: Verdict.PASS}
    held = compare_with_deviations(stands, KNOWN, whole=True)
    assert (
        held.listed_failing_rules,
        held.new_failing_rules,
        held.listed_rules_that_pass,
        held.listed_undecided_rules,
    ) == ((ONE,), (THREE,), (TWO,), ())
    assert not held.matches_run
    assert list(held.describe())[1:] == [
        f"not in the baseline: {THREE}",
        f"in the baseline, but no longer failing (remove them): {TWO}",
    ]


@pytest.mark.parametrize("verdict", [None, Verdict.NOT_OBSERVABLE, Verdict.INCONCLUSIVE, Verdict.NOT_EXERCISED])
def test_baseline_entry_without_verdict_is_not_stale(verdict: Verdict | None):
    stands = {ONE: Verdict.FAIL} | ({TWO: verdict} if verdict else {})
    held = compare_with_deviations(stands, KNOWN, whole=True)
    assert held.listed_undecided_rules == (TWO,)
    assert held.matches_run


def test_partial_run_makes_no_baseline_entry_stale():
    held = compare_with_deviations({ONE: Verdict.PASS, TWO: Verdict.PASS}, KNOWN, whole=False)
    assert held.matches_run
    assert held.listed_undecided_rules == (ONE, TWO)


def baseline(folder: Path, text: str) -> Path:
    path = folder / "baseline.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema = 1\n[x", "not a TOML file"),
        ('["MQQB-2.1.2-01"]\nreason = "x"\n', "not a baseline: it has no `schema = 1`"),
        ('schema = 1\n["MQQB-2.1.2-99"]\nreason = "x"\n', "unknown rule 'MQQB-2.1.2-99'; did you mean"),
        ('schema = 1\n["MQQB-2.1.2-01"]\nlink = "https://x"\n', "the reason of [MQQB-2.1.2-01] is empty; state why"),
        ('schema = 1\n["MQQB-2.1.2-01"]\nreason = "x"\nlink = "file:///x"\n', "it must begin with https://"),
        ('schema = 1\n["MQQB-2.1.2-01"]\nreason = "x"\nuntil = "y"\n', "unknown key 'until'; known: reason, link"),
        ('schema = 1\n"MQQB-2.1.2-01" = 3\n', "must be a table"),
    ],
)
def test_invalid_baseline_file_gives_one_line_error(tmp_path: Path, text: str, said: str):
    with pytest.raises(UsageError) as refused:
        load_baseline(baseline(tmp_path, text), dict.fromkeys(RULES))
    assert str(tmp_path) in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_missing_baseline_gives_one_line_error(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_baseline(tmp_path / "none.toml", {})


def test_baseline_update_keeps_reasons_and_lists_only_failing_rules(tmp_path: Path):
    known = {ONE: KnownDeviation(ONE, "old", "https://example.org/1"), TWO: KnownDeviation(TWO, "gone")}
    text = write_baseline([THREE, ONE], known)
    with pytest.raises(UsageError, match=f"the reason of .{THREE}. is empty"):
        load_baseline(baseline(tmp_path, text), dict.fromkeys(RULES))
    found = load_baseline(baseline(tmp_path, text.replace('reason = ""', 'reason = "new"')), dict.fromkeys(RULES))
    assert dict(found.deviations) == {ONE: known[ONE], THREE: KnownDeviation(THREE, "new")}


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip() == text))
def test_any_reason_in_baseline_survives_an_update(tmp_path_factory: pytest.TempPathFactory, reason: str):
    path = baseline(tmp_path_factory.mktemp("b"), write_baseline([ONE], {ONE: KnownDeviation(ONE, reason)}))
    assert load_baseline(path, dict.fromkeys(RULES)).deviations[ONE].reason == reason


# -- differences ------------------------------------------------------------------------------------------------------

Judged = Mapping[str, Mapping[str, str]]
"""The verdict of each check, by rule."""


def run(folder: Path, judged: Judged, **changes: Any) -> Path:
    folder.mkdir()
    tree = {
        "schema": 2,
        "run": folder.name,
        "started": "2026-11-01T00:00:00Z",
        "finished": "2026-11-01T00:10:00Z",
        "sut": {"name": "contoso", "version": "1.0", "profile": "none", "vendor": "Contoso"},
        "reach": "external",
        "selection": "all",
        "aborted": None,
    }
    (folder / "run.json").write_text(json.dumps(tree | changes), encoding="utf-8")
    (folder / "rules.json").write_text(json.dumps({"schema": 2, "rules": {}}), encoding="utf-8")
    lines = [
        {
            "schema": 2,
            "seq": 1,
            "ms": 5,
            "rule": rule,
            "verdict": verdict,
            "expected": "x",
            "observed": "<b>|y",
            "test": test,
        }
        for rule, checks in judged.items()
        for test, verdict in checks.items()
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "verdicts.jsonl").write_text(text, encoding="utf-8")
    return folder


def kinds(tmp_path: Path, before: Judged, after: Judged) -> dict[str, ChangeKind]:
    difference = compare_runs(read_run(run(tmp_path / "a", before)), read_run(run(tmp_path / "b", after)))
    return {step.rule: step.kind for step in difference.steps}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"t": "pass"}, {"t": "fail"}, ChangeKind.NEWLY_FAILING),
        ({"t": "not_observable"}, {"t": "fail"}, ChangeKind.NEWLY_FAILING),
        ({}, {"t": "fail"}, ChangeKind.NEWLY_FAILING),
        ({"t": "fail", "u": "pass"}, {"t": "fail", "u": "fail"}, ChangeKind.FAILING_MORE),
        ({"t": "fail", "u": "fail"}, {"t": "fail", "u": "pass"}, ChangeKind.UNCHANGED),
        ({"t": "fail"}, {"t": "pass"}, ChangeKind.NEWLY_PASSING),
        ({"t": "pass"}, {"t": "inconclusive"}, ChangeKind.CHANGED),
        ({}, {"t": "pass"}, ChangeKind.ADDED),
        ({"t": "fail"}, {}, ChangeKind.REMOVED),
    ],
)
def test_difference_of_a_rule_between_runs_has_its_kind(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], kind: ChangeKind
):
    found = kinds(tmp_path, {ONE: before} if before else {}, {ONE: after} if after else {})
    assert found == {ONE: kind}


def test_partial_run_creates_baseline_but_does_not_change_one(tmp_path: Path):
    part = run(tmp_path / "a", {ONE: {"t": "fail"}, TWO: {"t": "pass"}}, selection="-k x")
    file = tmp_path / "baseline.toml"
    update(part, file)
    made = file.read_text(encoding="utf-8")
    assert f'["{ONE}"]\nreason = ""' in made
    assert TWO not in made
    with pytest.raises(UsageError, match=r"is partial \(only -k x\)"):
        update(part, file)
    assert file.read_text(encoding="utf-8") == made


def test_undecided_rule_is_not_in_baseline_and_update_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`baseline update` exits with 1 when rules are undecided. Otherwise the first CI run would be green, and the next
    run with the baseline red for the same rules.
    """
    file = tmp_path / "baseline.toml"
    judged = {ONE: {"t": "fail"}, TWO: {"t": "inconclusive"}, THREE: {"t": "harness_error"}, FOUR: {"t": "pass"}}
    with pytest.raises(typer.Exit) as ended:
        update(run(tmp_path / "a", judged), file)
    assert ended.value.exit_code == 1
    said = f"a baseline accepts only failures, but 2 rules are undecided: {TWO}, {THREE}"
    assert capsys.readouterr().out.splitlines()[-1] == said
    made = file.read_text(encoding="utf-8")
    assert f"# {TWO}: <b>|y\n# {THREE}: <b>|y\n" in made
    given_a_reason = baseline(tmp_path, made.replace('reason = ""', 'reason = "x"'))
    assert load_baseline(given_a_reason, dict.fromkeys(RULES)).deviations.keys() == {ONE}


@pytest.mark.parametrize(
    ("of_run", "why"),
    [
        ({"aborted": "the deadline of 3000 s had passed"}, "is partial"),
        ({"finished": None}, "is partial"),
        ({"roots": [{"root": "queues plain", "said": "queues: no plain", "checks": ["t"]}]}, "queues: no plain"),
    ],
)
def test_no_baseline_is_written_from_aborted_run_or_run_with_missing_root(
    tmp_path: Path, of_run: dict[str, Any], why: str
):
    with pytest.raises(UsageError, match=why):
        update(run(tmp_path / "a", {ONE: {"t": "fail"}}, **of_run), tmp_path / "baseline.toml")
    assert not (tmp_path / "baseline.toml").exists()


@pytest.fixture
def shown(tmp_path: Path) -> dict[str, str]:
    a = run(tmp_path / "a", {ONE: {"t": "pass"}, TWO: {"t": "fail"}, FOUR: {"t": "pass"}})
    b = run(
        tmp_path / "b", {ONE: {f"{LINES}t{number}": "fail" for number in range(5)}, TWO: {"t": "pass"}}, aborted="cut"
    )
    difference = compare_runs(read_run(a), read_run(b))
    assert difference.is_worse
    return {name: make(difference) for name, make in DIFFERENCE_FORMATTER_BY_NAME.items()}


def test_text_difference_names_new_failures_with_reasons_of_rules(shown: dict[str, str]):
    text = shown["text"]
    assert "B: contoso 1.0, b, partial: cut\n" in text
    assert f"newly failing: 1\n  {ONE}  pass -> fail\n    expected x; observed <b>|y\n    {LINES}t0\n" in text
    assert "and 2 more checks" in text
    assert f"removed: 1\n  {FOUR}  pass -> none" in text


def test_markdown_difference_escapes_texts_of_a_system(shown: dict[str, str]):
    (row,) = (line for line in shown["markdown"].splitlines() if line.startswith(f"| {ONE}"))
    assert r"\<b\>\|y" in row
    assert row.replace("\\|", "").count("|") == 7


def test_json_difference_has_both_runs_and_each_kind_of_change(shown: dict[str, str]):
    tree = json.loads(shown["json"])
    assert tree["b"] == {"run": "b", "system": "contoso 1.0", "partial": "cut"}
    (step,) = tree["newly failing"]
    assert (step["rule"], step["before"], step["after"], len(step["checks"])) == (ONE, "pass", "fail", 5)


def test_junit_difference_fails_for_worse_rules(shown: dict[str, str]):
    root = ElementTree.fromstring(shown["junit"])
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    failing = [case.get("name") for case in root if case.find("failure") is not None]
    assert failing == [ONE]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda folder: (folder / "run.json").unlink(),
            "is not a run folder, because run.json cannot be read: No such file",
        ),
        (lambda folder: (folder / "run.json").write_text("[]"), "is not a run.json of this harness"),
        (lambda folder: (folder / "verdicts.jsonl").unlink(), "cannot be read: No such file"),
        (lambda folder: (folder / "verdicts.jsonl").write_text('{"schema": 2'), "the verdict is truncated or broken"),
    ],
)
def test_a_folder_that_is_no_run_gives_one_line_error(tmp_path: Path, spoil: Any, said: str):
    folder = run(tmp_path / "a", {ONE: {"t": "pass"}})
    spoil(folder)
    with pytest.raises(UsageError, match=said):
        read_run(folder)
