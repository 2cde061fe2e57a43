"""Results of a check that was renamed: each reader of a run folder finds these results under the present id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness_made import MUST, catalogue, log, sut_file

from harness.capture.recorder import Recorder
from harness.judging.verdicts import Evidence, Verdict, VerdictEntry, read_verdicts
from harness.peer.peer import Peer
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.results.difference import ChangeKind, compare_runs
from harness.results.run_results import read_run
from harness.rules import renamed_checks
from harness.run import replays
from harness.run.named_roots import RootCauses
from harness.run.run import ConformanceRun, build_rules_json
from harness.run_folder import get_capture_path
from harness.sut.replay_driver import ReplayDriver
from harness.sut.sut_file import load_sut_file
from harness.sut.virtual_driver import VirtualDriver

OLD, NEW = "suites/mqqb/s2/test_a.py::test_old", "suites/mqqb/s3/test_b.py::test_new"


@pytest.fixture(autouse=True)
def one_check_is_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renamed_checks, "load_renamed_checks", lambda: {OLD: NEW})


def write_fail(folder: Path, test: str) -> Path:
    """Write a run folder in which a check fails a rule, with a packet as evidence; return the folder."""
    folder.mkdir(exist_ok=True)
    entry = VerdictEntry(MUST, "MQQB", "2.2.1", "MUST", Verdict.FAIL, "1", "2", test=test, evidence=(Evidence(3),))
    verdicts = log(folder)
    verdicts.append(entry)
    verdicts.close()
    return folder


def test_verdict_of_renamed_check_has_new_id_and_capture_of_old_id(tmp_path: Path):
    (line,) = read_verdicts(write_fail(tmp_path, f"{OLD}[a]") / "verdicts.jsonl")
    assert line["test"] == f"{NEW}[a]"
    assert line["capture"] == get_capture_path(f"{OLD}[a]")


def test_failures_under_old_and_new_id_of_a_check_count_as_one(tmp_path: Path):
    old, new = (read_run(write_fail(tmp_path / test[-3:], test)) for test in (OLD, NEW))
    assert [step.kind for step in compare_runs(old, new).steps] == [ChangeKind.UNCHANGED]


def test_resumed_run_does_not_repeat_renamed_check(tmp_path: Path):
    run = ConformanceRun.begin(tmp_path, sut_file(), catalogue(), "all", resume=False)
    for test in (OLD, "suites/a.py::test_cut"):
        run.verdict_log.append(VerdictEntry(MUST, "MQQB", "2.2.1", "MUST", Verdict.PASS, "", "", test=test))
    run.residue.append({"check": OLD, "what": "a queue"})
    run.write_run_file(finished=None, code=None)
    run.verdict_log.close()
    run.run_lock.release()
    again = ConformanceRun.begin(tmp_path, sut_file(), catalogue(), "all", resume=True)
    assert again.earlier_verdicts.checks_with_verdicts == {NEW}
    assert again.earlier_residue == [{"check": NEW, "what": "a queue"}]
    again.verdict_log.close()
    again.run_lock.release()


def test_the_missing_roots_of_a_run_name_the_renamed_check():
    tree = [{"root": "queues plain", "said": "there is no queue", "checks": [f"{OLD}[a]"]}]
    assert RootCauses.from_json(tree).root_cause_by_subject["queues plain"].checks == {f"{NEW}[a]"}


def test_replay_finds_the_capture_of_a_renamed_check(tmp_path: Path):
    write_fail(tmp_path, OLD)
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    run["deaths"] = [{"worker": 0, "check": OLD, "how": "it ended", "said": "exit 1"}]
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    file, drivers = replays.load_replayed_run(tmp_path, ())
    (driver,) = drivers(file, tmp_path)
    assert isinstance(driver, ReplayDriver)
    assert driver.captures == {NEW: tmp_path / get_capture_path(OLD)}
    assert driver.take_process_end(NEW) is not None


def test_a_capture_that_names_the_old_id_is_replayed_for_the_renamed_check(tmp_path: Path):
    (tmp_path / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    file, path = load_sut_file(tmp_path / "sut.toml"), tmp_path / "made.pcapng"
    view = VirtualDriver(file).open(OLD)
    recorder = Recorder(view.environment, path)
    assert view.tape is not None
    view.tape.begin(recorder, view, "run-1", OLD)
    peer = Peer(view.environment, view, recorder, seed=OLD)
    view.tape.end()
    peer.close()
    view.close()
    driver = ReplayDriver(file, {NEW: path}, "run-1")
    driver.open(NEW).close()
    assert driver.differences == {}


def test_rules_file_of_a_run_lists_the_renamed_checks():
    text, _ = build_rules_json(catalogue())
    assert json.loads(text)["renamed"] == {OLD: NEW}
