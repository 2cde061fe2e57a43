"""A run folder is begun once, can be resumed, and ends with an exit code that follows from its verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_made import MUST, SHOULD, catalogue, lines, sut_file, written

from harness.errors import UsageError
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.proof.inventory import take_inventory
from harness.run import run as run_module
from harness.run.checks_of_rules import checks_of_rules
from harness.run.run import ConformanceRun, make_file_name_part
from harness.run_folder import build_capture_name, get_capture_path

Begin = Callable[..., ConformanceRun]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Yield a function that opens run folders; at the end close them without a final record, as after a kill. In these
    tests, one check is a whole run.
    """
    monkeypatch.setattr(run_module, "read_frozen_test_count", lambda suites: 1)
    monkeypatch.setattr(run_module, "checks_of_rules", lambda: {MUST: ["suites/a.py::test_b"]})
    begun: list[ConformanceRun] = []

    def make(
        folder: Path = tmp_path, *, selection: str = "all", resume: bool = False, **changes: Any
    ) -> ConformanceRun:
        begun.append(ConformanceRun.begin(folder, sut_file(**changes), catalogue(), selection, resume=resume))
        begun[-1].describe()
        begun[-1].write_run_file(finished=None, code=None)
        return begun[-1]

    yield make
    for run in begun:
        run.verdict_log.close()
        run.run_lock.release()


def judged(run: ConformanceRun, test: str, *verdicts: Verdict, rule: str = MUST) -> None:
    run.ids_of_run_checks.add(test)
    for verdict in verdicts:
        run.verdict_log.append(VerdictEntry(rule, "MQQB", "2.2.1", "MUST", verdict, "", "", test=test))


def run_json(folder: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return tree


def test_run_refuses_folder_with_other_content(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "thesis.odt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is not empty and contains no run; give another --out"):
        begin(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.odt"]


def test_partial_run_is_marked_partial(begin: Begin, tmp_path: Path) -> None:
    run = begin(tmp_path / "part", selection="--select MQQB")
    judged(run, "t", Verdict.PASS)
    assert run.summarize_counts().endswith("1 pass (partial: only --select MQQB)")
    run = begin(tmp_path / "whole")
    judged(run, "t", Verdict.PASS)
    assert run.summarize_counts().endswith("1 pass")
    run.abort_reason = "stopped after 1 failure"
    assert run.summarize_counts().endswith("1 pass (partial: stopped after 1 failure)")
    run.check_count = 3
    assert "Contoso 1.0: 1 of 3 checks, 1 rules: 1 pass (partial" in run.summarize_counts()


# -- exit codes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.PASS], 0),
        ([Verdict.PASS, Verdict.WARN], 0),
        ([Verdict.PASS, Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVABLE], 0),
        ([Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVABLE], 5),
        ([Verdict.PASS, Verdict.FAIL], 1),
        ([Verdict.PASS, Verdict.INCONCLUSIVE], 1),
        ([Verdict.PASS, Verdict.HARNESS_ERROR], 1),
    ],
)
def test_exit_code_of_run_depends_on_verdicts(begin: Begin, tmp_path: Path, verdicts: list[Verdict], code: int) -> None:
    run = begin()
    judged(run, "t", *verdicts)
    assert run.end() == code
    found = run_json(tmp_path)
    assert (found["exit"], found["aborted"], found["sut"]["name"]) == (code, None, "Contoso")
    assert found["finished"] >= found["started"]


def test_a_run_without_a_check_is_no_success(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    assert run.describe_shortfall() == "no check ran"
    assert run.end() == run_json(tmp_path)["exit"] == 5


def test_fewer_checks_than_frozen_fail_a_whole_run(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "read_frozen_test_count", lambda suites: 3)
    for selection, code in (("all", 5), ("-k x", 0)):
        run = begin(tmp_path / make_file_name_part(selection), selection=selection)
        judged(run, "one", Verdict.PASS)
        judged(run, "two", Verdict.PASS)
        assert run.end() == code
    run = begin(tmp_path / "three")
    for test in ("one", "two", "three"):
        judged(run, test, Verdict.PASS)
    assert run.end() == 0


def test_aborted_run_and_harness_error_fail_the_run(begin: Begin, tmp_path: Path) -> None:
    for name in ("abort_reason", "failed"):
        run = begin(tmp_path / name)
        judged(run, "t", Verdict.PASS)
        setattr(run, name, "interrupted")
        assert run.end() == 1


# -- folders --------------------------------------------------------------------------------------------------------


def test_run_refuses_the_folder_of_an_earlier_run(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    judged(run, "t", Verdict.PASS)
    run.run_lock.release()
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(UsageError, match=f"{tmp_path} already contains a run; give another --out, or --resume"):
        begin()
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_run_folder_without_verdicts_can_be_reused(begin: Begin) -> None:
    begin().end()
    judged(begin(), "t", Verdict.PASS)


def test_a_folder_that_cannot_be_made_gives_one_line_error(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"file cannot contain a run: .*; give another --out"):
        begin(tmp_path / "file")


def test_run_id_contains_no_path(begin: Begin) -> None:
    run = begin(sut={"name": "../../etc/passwd", "version": "/"})
    assert "/" not in run.id
    assert run.file.sut.name == "../../etc/passwd"


# -- resume ---------------------------------------------------------------------------------------------------------


def test_killed_run_resumes_after_its_last_verdict(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    judged(first, "one", Verdict.FAIL, Verdict.PASS)
    judged(first, "two", Verdict.PASS)  # it is killed here: who knows what of "two" is missing
    second = begin(resume=True)
    assert (
        second.earlier_verdicts.checks_with_verdicts,
        second.earlier_verdicts.interrupted_check,
        second.earlier_verdicts.last_sequence_number,
    ) == ({"one"}, "two", 3)
    judged(second, "two", Verdict.PASS)  # written already
    judged(second, "two", Verdict.PASS, rule=SHOULD)
    judged(second, "three", Verdict.PASS)
    assert [(line["seq"], line["test"], line["rule"]) for line in lines(tmp_path)] == [
        (1, "one", MUST),
        (2, "one", MUST),
        (3, "two", MUST),
        (4, "two", SHOULD),
        (5, "three", MUST),
    ]
    assert second.id == first.id
    assert second.summarize_counts() == "Contoso 1.0: 3 checks, 2 rules: 1 pass, 1 fail"
    assert second.end() == 1  # the failure of before the kill counts
    assert run_json(tmp_path)["started"] == first.started


def test_capture_of_earlier_verdicts_is_kept_on_resume(begin: Begin) -> None:
    first = begin()
    judged(first, "one", Verdict.PASS)
    judged(first, "two", Verdict.PASS)
    second = begin(resume=True)
    assert second.capture_path("one") == first.capture_path("one")
    assert second.capture_path("two") != first.capture_path("two")
    assert second.capture_path("three") == first.capture_path("three")


def test_resume_of_an_ended_run_repeats_no_check(begin: Begin) -> None:
    first = begin()
    judged(first, "one", Verdict.PASS)
    first.end()
    second = begin(resume=True)
    assert (second.earlier_verdicts.checks_with_verdicts, second.earlier_verdicts.interrupted_check) == ({"one"}, None)
    assert second.end() == 0


def residue_of(*checks: str) -> list[dict[str, str]]:
    return [{"check": check, "what": "a queue that cannot be deleted"} for check in checks]


def test_resume_of_ended_run_repeats_checks_that_found_residue(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    for test in ("t", "u"):
        judged(run, test, Verdict.PASS)
    run.residue += residue_of("t")
    first = run.capture_path("t")
    run.end()
    again = begin(resume=True)
    assert again.earlier_verdicts.checks_with_verdicts == {"u"}
    assert run_json(tmp_path)["residue"] == residue_of("t")
    assert again.capture_path("t") != first
    judged(again, "t", Verdict.PASS)
    assert again.end() == 0
    assert run_json(tmp_path)["residue"] == []
    assert len(lines(tmp_path)) == 3


def test_resume_of_unfinished_run_keeps_its_list_of_residue(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    for test in ("t", "u"):
        judged(run, test, Verdict.PASS)
    run.residue += residue_of("t")
    run.abort_reason = "interrupted"
    run.end()
    again = begin(resume=True)
    assert again.earlier_verdicts.checks_with_verdicts == {"t"}
    again.residue += residue_of("u")
    again.end()
    assert run_json(tmp_path)["residue"] == residue_of("t", "u")


def test_residue_is_recorded_despite_kill(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    judged(run, "t", Verdict.PASS)
    run.residue += residue_of("t")
    run.write_new_residue()
    begin(resume=True).end()
    assert run_json(tmp_path)["residue"] == residue_of("t")


def test_resume_of_an_interrupted_run_repeats_its_last_check(begin: Begin) -> None:
    first = begin()
    judged(first, "one", Verdict.PASS)
    first.abort_reason = "interrupted"
    first.end()
    assert begin(resume=True).earlier_verdicts.interrupted_check == "one"


def test_resume_without_run_or_with_wrong_sut_gives_one_line_error(begin: Begin, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"contains no run to resume: run\.json or verdicts\.jsonl is missing"):
        begin(tmp_path / "none", resume=True)
    judged(begin(), "one", Verdict.PASS)
    with pytest.raises(UsageError, match=r"contains a run of Contoso 1\.0; give the SUT file of this system"):
        begin(resume=True, sut={"name": "Fabrikam", "version": "1.0"})


@pytest.mark.parametrize("content", ["", "{", "[]", '{"run": "x"}', '{"run": "x", "started": "y", "sut": 1}'])
def test_a_broken_run_file_gives_one_line_error(begin: Begin, tmp_path: Path, content: str) -> None:
    judged(begin(), "one", Verdict.PASS)
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError, match=r"run\.json is truncated or broken"):
        begin(resume=True)


@pytest.mark.parametrize(
    "change", [{"verdict": "splendid"}, {"seq": "x"}, {"rule": None}, {"verdict": None}, {"seq": None}]
)
def test_invalid_verdict_line_is_named_and_file_unchanged(begin: Begin, tmp_path: Path, change: dict[str, Any]) -> None:
    judged(begin(), "one", Verdict.PASS, Verdict.PASS)
    good, last = written(tmp_path)
    for key, value in change.items():
        last[key] = value
        if value is None:
            del last[key]
    data = "".join(json.dumps(line) + "\n" for line in (good, last))
    (tmp_path / "verdicts.jsonl").write_text(data)
    with pytest.raises(UsageError, match=r"verdicts\.jsonl:2: this line is not a verdict of this harness"):
        begin(resume=True)
    assert (tmp_path / "verdicts.jsonl").read_text() == data


def test_run_of_schema_1_is_read_but_not_resumed(begin: Begin, tmp_path: Path) -> None:
    judged(begin(), "one", Verdict.PASS)
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps({**written(tmp_path)[0], "schema": 1}) + "\n")
    with pytest.raises(UsageError) as caught:
        begin(resume=True)
    assert str(caught.value) == (
        f"{path} has schema 1 of an older harness; finish the run with that harness, "
        "or start a new run with another --out"
    )


# -- rules.json -----------------------------------------------------------------------------------------------------


def test_run_records_judgeable_rules_and_their_checks(begin: Begin, tmp_path: Path) -> None:
    run = begin()
    found = json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert (found["rules"][MUST]["checks"], found["rules"][SHOULD]["checks"]) == (["suites/a.py::test_b"], [])
    canonical = json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert run_json(tmp_path)["suites"] == hashlib.sha256(canonical.encode()).hexdigest()
    run.end()
    assert run_json(tmp_path)["suites"] == run.rules_file_sha256


def test_run_aborted_before_collection_is_recorded(begin: Begin, tmp_path: Path) -> None:
    begin(tmp_path / "other")
    run = ConformanceRun.begin(tmp_path / "run", sut_file(), catalogue(), "all", resume=False)
    assert run_json(tmp_path / "run")["suites"] is None
    run.lose("nobody answers")
    run.end()
    for name in ("run", "other"):
        assert run_json(tmp_path / name)["suites"] == run.rules_file_sha256
        assert (tmp_path / name / "rules.json").is_file()


def test_listed_checks_of_rules_equal_those_that_pytest_collects() -> None:
    inventory = take_inventory()
    collected = {
        rule: sorted({test.partition("[")[0] for test in tests})
        for rule, tests in inventory.checks_by_rule.items()
        if rule not in inventory.passive
    }
    assert checks_of_rules() == collected


# -- capture names --------------------------------------------------------------------------------------------------


def test_every_collected_check_has_a_capture_of_its_own() -> None:
    checks = {test for tests in take_inventory().checks_by_rule.values() for test in tests}
    assert len(checks) > 100
    assert len({build_capture_name(check) for check in checks}) == len(checks)


def test_capture_name_is_the_end_of_the_test_id_and_a_digest() -> None:
    assert get_capture_path("suites/mqqb/s2/test_x.py::test_y[A-1]") == (
        "captures/suites-mqqb-s2-test-x-py-test-y-a-1-c68558fe.pcapng"
    )
    assert build_capture_name("suites/" + "x" * 130 + "-[é") == "x" * 119 + "-cfebade5"


@pytest.mark.parametrize(
    "names", [("[-1]", "[1]"), ("[a-b]", "[a_b]"), ("[A]", "[a]"), ("[" + "x" * 300 + "1]", "[" + "x" * 300 + "2]")]
)
def test_similar_test_names_give_different_capture_names(names: tuple[str, str]) -> None:
    assert len({build_capture_name(f"suites/mqqb/test_x.py::test_y{name}") for name in names}) == 2


@pytest.mark.parametrize("name", ["../../../tmp/x", "a\x00b", "/etc/passwd", "..", "é" * 400, ""])
def test_capture_path_is_in_the_captures_folder_for_any_test_parameters(
    begin: Begin, tmp_path: Path, name: str
) -> None:
    path = begin().capture_path(f"suites/mqqb/test_x.py::test_y[{name}]")
    assert path.parent == tmp_path / "captures"
    assert path.name.isascii()
    assert len(path.name) < 200
    path.touch()
