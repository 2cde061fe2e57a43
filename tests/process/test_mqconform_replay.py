"""``mqconform replay`` runs the checks of a run folder again on their captures, without the system."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from mqconform_process import FEW, NO_CELLS, Ran, judged, mqconform, run_json, started_program, sut
from qm_process import free_port, serve

from benchmarks.agents import EXAMPLE_ON_SERVE
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

ALL_ALIKE = "3 of 3 checks reproduced the verdicts of the run; 0 differed, 0 cannot be replayed\n"


@pytest.fixture
def run(few: Ran, tmp_path: Path) -> Path:
    """Return a copy of a run of three checks, which the test changes."""
    return Path(shutil.copytree(few.folder, tmp_path / "run"))


def test_replay_of_a_run_gives_the_same_verdicts(few: Ran):
    done = mqconform("replay", few.folder)
    assert (done.returncode, done.stdout) == (0, ALL_ALIKE)


def test_failure_is_replayed_without_the_system(tmp_path: Path):
    faulty = (
        VIRTUAL_SUT_FILE_TEXT + '[reference]\nfaults = ["receiver-session-kept-open-after-packet-with-unknown-pt"]\n'
    )
    run = ("run", "--sut", sut(tmp_path, faulty), "--out", tmp_path / "run", "--rule", FEW, *NO_CELLS)
    assert mqconform(*run).returncode == 1
    done = mqconform("replay", tmp_path / "run", "--rule", FEW, "--out", tmp_path / "again")
    assert (done.returncode, done.stdout) == (0, ALL_ALIKE)
    lines = [json.loads(line) for line in (tmp_path / "again/verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["evidence"] for line in lines if line["rule"] == FEW and line["verdict"] == "fail"]


def test_a_run_of_a_program_with_a_control_channel_is_replayed(tmp_path: Path):
    """The capture of a check contains everything that influenced the check: bytes, timers and control answers with
    their times.
    """
    file = started_program(tmp_path, addresses=("127.0.83.1", "127.0.83.2"))
    chosen = "unknown_packet_type_closes_session"
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run", "-k", chosen)
    assert done.returncode == 0, done.stdout
    done = mqconform("replay", tmp_path / "run", "--format", "json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["differing"], found["unplayable"]) == ({}, {})
    assert len(found["alike"]) >= 3


def test_the_end_of_the_systems_process_is_replayed(tmp_path: Path):
    """The end of the system's process, which no packet shows, is replayed: the same checks fail, and the same verdicts
    stay undecided.
    """
    file = started_program(tmp_path, addresses=("127.0.83.3", "127.0.83.4"), script="crashing_queue_manager.py")
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run", "-k", "unknown_packet_type and 0")
    assert done.returncode == 1, done.stdout
    assert len(run_json(tmp_path / "run")["deaths"]) == 1
    done = mqconform("replay", tmp_path / "run", "--out", tmp_path / "again")
    assert (done.returncode, done.stdout) == (0, ALL_ALIKE.replace("3", "1"))
    assert "ROBUSTNESS-1-CRASH" in {rule for _, rule, verdict in judged(tmp_path / "again") if verdict == "fail"}


AUTHENTICATES = """[rpc]
level = "privacy"
user = "tester"
password = "Test-1"
"""
ADMITS = "[remote]\n{}[rpc]\nleast_level = 'privacy'\n[[rpc.users]]\nname = 'tester'\npassword = 'Test-1'\n"


def test_run_of_external_system_is_replayed_except_random_decisions(tmp_path: Path):
    """A run of an external system over an address, a control channel of type stdio, and NTLM is replayed, except the
    checks with random keys of NTLM.
    """
    own, peer = "127.0.83.5", "127.0.83.6"
    ports = dict(zip(("tcp_port", "ping_port", "rpc_port"), (free_port(peer) for _ in range(3)), strict=True))
    flags = ("--address", own, "--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0", "--control", f"{own}:0")
    told = "".join(f"{name} = {port}\n" for name, port in ports.items())
    with serve(tmp_path, *flags, toml=ADMITS.format(told)) as served:
        at = "".join(f"{name}_port = {served.endpoint(name)[1]}\n" for name in ("tcp", "ping", "rpc"))
        its = "".join(f"peer_{name} = {port}\n" for name, port in ports.items())
        agent = json.dumps([sys.executable, "-S", "-E", str(EXAMPLE_ON_SERVE), served.bound["control"]])
        file = sut(
            tmp_path,
            f'[sut]\nname = "far"\n[driver]\nkind = "external"\naddress = "{own}"\npeer_address = "{peer}"\n{at}{its}'
            f'[control]\nkind = "stdio"\ncommand = {agent}\n{AUTHENTICATES}[capabilities]\nping = true\nqm2qm = true\n',
        )
        chosen = "test_purge_empties_open_queue_and_no_other or connection_response_repeats or unknown_packet_type"
        done = mqconform("run", "--sut", file, "--out", tmp_path / "run", "-k", chosen)
    assert done.returncode == 0, done.stdout
    found = json.loads(mqconform("replay", tmp_path / "run", "--format", "json").stdout)
    assert found["differing"] == {}
    assert len(found["alike"]) >= 3
    (why,) = found["unplayable"].values()
    assert why.endswith("an RPC authentication, whose keys the tester chooses at random: not replayable")


def test_replay_names_verdict_that_differs_from_capture(run: Path):
    path = run / "verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pass"', '"fail"', 1), encoding="utf-8")
    rule = json.loads(path.read_text(encoding="utf-8").splitlines()[0])["rule"]
    done = mqconform("replay", run)
    assert done.returncode == 1
    assert f"\n  {rule}: verdict in the run: fail" in done.stdout
    assert f"\n  {rule}: verdict in the replay: pass" in done.stdout
    assert done.stdout.endswith("2 of 3 checks reproduced the verdicts of the run; 1 differed, 0 cannot be replayed\n")


def test_checks_without_captures_cannot_be_replayed(run: Path):
    for path in (run / "captures").iterdir():
        path.unlink()
    done = mqconform("replay", run)
    assert done.returncode == 5
    assert done.stdout.count(": the check has no capture\n") == 3


def test_captures_of_another_run_cannot_be_replayed(run: Path):
    path = run / "run.json"
    changed = {"run": "another", "suites": "0" * 64}
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changed), encoding="utf-8")
    done = mqconform("replay", run, "-k", "0")
    assert done.returncode == 5
    warned = "the run used a different rule set from the one installed here: its checks may have been different\n"
    assert done.stderr == warned
    assert "the capture of this check was recorded for suites/mqqb/" in done.stdout


def test_replay_of_a_folder_without_run_gives_one_line_error(run: Path, tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/run.json").write_text("[" * 100_000, encoding="utf-8")
    for words, said in (
        ((tmp_path / "nowhere",), "nowhere is not a run folder, because run.json cannot be read: No such file"),
        ((tmp_path / "broken",), "run.json is truncated or broken"),
        ((run, "--rule", "MQQB-3.1.5.8.1-01"), "no check has a verdict on MQQB-3.1.5.8.1-01"),
        ((run, "-k", "no_such_check"), "matches no check"),
        ((run, "--out", run), "already contains a run"),
    ):
        done = mqconform("replay", *words)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert said in line
