"""``mqconform replay``: the checks of a run folder run again on their captures, without the system."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from mqconform_process import FEW, Ran, mqconform, started_program, sut

from harness.proof.trials import VIRTUAL_SUT

ALL_ALIKE = "3 of 3 checks came to the verdicts of the run; 0 came to others, 0 cannot be replayed\n"


@pytest.fixture
def run(few: Ran, tmp_path: Path) -> Path:
    """Return a copy of a run of three checks, to be changed."""
    return Path(shutil.copytree(few.folder, tmp_path / "run"))


def test_a_run_comes_to_its_verdicts_again(few: Ran):
    done = mqconform("replay", few.folder)
    assert (done.returncode, done.stdout) == (0, ALL_ALIKE)


def test_a_failure_fails_again_where_the_system_is_not(tmp_path: Path):
    faulty = VIRTUAL_SUT + '[reference]\nfaults = ["header-unknown-packet-type-kept"]\n'
    assert mqconform("run", "--sut", sut(tmp_path, faulty), "--out", tmp_path / "run", "--rule", FEW).returncode == 1
    done = mqconform("replay", tmp_path / "run", "--rule", FEW, "--out", tmp_path / "again")
    assert (done.returncode, done.stdout) == (0, ALL_ALIKE)
    lines = [json.loads(line) for line in (tmp_path / "again/verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["evidence"] for line in lines if line["rule"] == FEW and line["verdict"] == "fail"]


def test_a_run_of_a_program_with_a_control_channel_is_replayed(tmp_path: Path):
    """What decided how a check went on is in its capture: sockets, timers and answers, at the times of then."""
    file = started_program(tmp_path, addresses=("127.0.83.1", "127.0.83.2"))
    chosen = "a_recoverable_message_is_acknowledged or test_unused_flags_of_a_base_header or an_unknown_packet_type"
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run", "-k", chosen)
    assert done.returncode == 0, done.stdout
    done = mqconform("replay", tmp_path / "run", "--format", "json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["differing"], found["unplayable"]) == ({}, {})
    assert len(found["alike"]) >= 3


def test_a_verdict_that_is_not_that_of_the_capture_is_named(run: Path):
    path = run / "verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pass"', '"fail"', 1), encoding="utf-8")
    rule = json.loads(path.read_text(encoding="utf-8").splitlines()[0])["rule"]
    done = mqconform("replay", run)
    assert done.returncode == 1
    assert f"\n  {rule}: in the run: fail" in done.stdout
    assert f"\n  {rule}: replayed: pass" in done.stdout
    assert done.stdout.endswith(
        "2 of 3 checks came to the verdicts of the run; 1 came to others, 0 cannot be replayed\n"
    )


def test_checks_without_captures_cannot_be_replayed(run: Path):
    for path in (run / "captures").iterdir():
        path.unlink()
    done = mqconform("replay", run)
    assert done.returncode == 5
    assert done.stdout.count(": it has no capture\n") == 3


def test_captures_of_another_run_cannot_be_replayed(run: Path):
    path = run / "run.json"
    changed = {"run": "another", "suites": "0" * 64}
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changed), encoding="utf-8")
    done = mqconform("replay", run, "-k", "0")
    assert done.returncode == 5
    assert done.stderr == "the run is of another rule set than is installed here: checks may do something else\n"
    assert "its capture is of suites/mqqb/" in done.stdout


def test_what_is_no_run_is_one_line(run: Path, tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/run.json").write_text("[" * 100_000, encoding="utf-8")
    for words, said in (
        ((tmp_path / "nowhere",), "nowhere: holds no run: run.json: No such file"),
        ((tmp_path / "broken",), "run.json: "),
        ((run, "--rule", "MQQB-3.1.5.8.1-01"), "no check has a verdict on MQQB-3.1.5.8.1-01"),
        ((run, "-k", "no_such_check"), "matches no check"),
        ((run, "--out", run), "already holds a run"),
    ):
        done = mqconform("replay", *words)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert said in line
