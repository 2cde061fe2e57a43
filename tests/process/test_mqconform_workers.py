"""``--workers``: parallel checks have the same verdicts as sequential checks, and no result of a worker is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from mqconform_process import (
    MQCONFORM,
    complaint,
    held_up,
    judged,
    mqconform,
    run_json,
    sut,
    unfounded,
    verdicts,
)
from patience import communicate, end_of, until
from qm_process import free_port

from harness.exit_codes import EXIT_INTERRUPTED

SELECTION = ("--select", "MQQB-2.2.3", "--select", "MQQB-2.2.6", "--select", "MQQB-2.2.1")
"""Selects some dozens of checks of packets."""
HELD_UP_IN = 6
"""The number of the check in which a worker waits; each of two workers reaches this check."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished run without workers."""
    folder = tmp_path_factory.mktemp("alone")
    done = mqconform("run", "--sut", sut(folder), "--out", folder / "run", *SELECTION)
    assert done.returncode == 0, done.stdout
    return folder / "run"


def blocks(folder: Path) -> list[str]:
    """Return the check of each group of consecutive lines of verdicts.jsonl that belong to the same check."""
    tests = [line["test"] for line in verdicts(folder)]
    return [test for number, test in enumerate(tests) if number == 0 or tests[number - 1] != test]


def test_three_workers_give_same_verdicts_as_one_worker(alone: Path, tmp_path: Path) -> None:
    done = mqconform("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", *SELECTION, "--workers", 3)
    assert done.returncode == 0, done.stdout
    folder = tmp_path / "run"
    assert judged(folder) == judged(alone)
    assert [line["seq"] for line in verdicts(folder)] == list(range(1, len(verdicts(folder)) + 1))
    assert max(Counter(blocks(folder)).values()) == 1
    assert unfounded(folder) == []
    for name in ("junit.xml", "captures"):
        assert (folder / name).exists()
    cases = [
        [(case.get("name"), *(each.tag for each in case)) for case in ET.parse(run / "junit.xml").iter("testcase")]
        for run in (folder, alone)
    ]
    assert cases[0] == cases[1]
    assert len(list((folder / "captures").iterdir())) == len(list((alone / "captures").iterdir()))


def go(folder: Path) -> Path:
    return folder.with_name("go")


def begun(folder: Path, file: Path, workers: int = 2) -> subprocess.Popen[str]:
    """Return a running run that has already written some verdicts; its workers wait until a file ``go`` exists."""
    command = [*MQCONFORM, "run", "--sut", str(file), "--out", str(folder), *SELECTION, f"--workers={workers}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=held_up(HELD_UP_IN, go(folder)))
    path = folder / "verdicts.jsonl"
    until(lambda: path.is_file() and path.stat().st_size, "the run has a verdict")
    return process


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return [int(pid) for pid in found]


def test_dead_worker_is_reported_and_replaced(alone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with begun(folder, sut(tmp_path)) as process:
        os.kill(workers_of(process)[0], signal.SIGKILL)
        go(folder).touch()
        said, _ = communicate(process)
    assert process.returncode == run_json(folder)["exit"] == 1
    lost = {line["test"]: line["reason"] for line in verdicts(folder) if line["verdict"] == "harness_error"}
    ((test, reason),) = lost.items()
    assert reason.endswith("died in this check (SIGKILL)")
    assert test.rpartition("::")[2] in said
    others = {key: times for key, times in judged(alone).items() if key[0] != test}
    assert others == {key: times for key, times in judged(folder).items() if key[0] != test}


def test_killed_session_ends_its_workers_and_can_resume(alone: Path, tmp_path: Path) -> None:
    folder, file = tmp_path / "run", sut(tmp_path)
    with begun(folder, file) as process:
        workers = workers_of(process)
        process.kill()
        go(folder).touch()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the workers end")
    arguments = ("--sut", file, "--out", folder, *SELECTION, "--workers", 2, "--resume")
    done = mqconform("run", *arguments)
    assert done.returncode == 0, done.stdout
    assert judged(folder) == judged(alone)
    assert unfounded(folder) == []


def test_option_impossible_with_several_workers_gives_one_line_error(tmp_path: Path) -> None:
    said_of = {
        0: "--workers 0: the number must be 1 to 100",
        3: "driver.more_peer_addresses names 1 addresses of this machine, but worker 2 also needs one",
    }
    file = sut(
        tmp_path,
        '[sut]\nname = "far"\n[driver]\nkind = "external"\naddress = "192.0.2.1"\nallow_remote = true\n'
        'peer_address = "192.0.2.2"\nmore_peer_addresses = ["192.0.2.3"]\n',
    )
    runs = [mqconform("run", "--sut", file, "--out", tmp_path / "run", "--workers", workers) for workers in said_of]
    for said, done in zip(said_of.values(), runs, strict=True):
        assert said in complaint(done)
    assert not (tmp_path / "run").exists()


def loopback(folder: Path) -> Path:
    """Return a SUT file with which each of two workers starts its own process."""
    port = free_port("127.0.9.2", "127.0.10.2")
    for number in (0, 1):
        (folder / f"qm-{number}.toml").write_text(f"[remote]\ntcp_port = {port}\nping_port = {port}\n")
    return sut(
        folder,
        '[sut]\nname = "loopback"\n[driver]\nkind = "process"\naddress = "127.0.9.1"\npeer_address = "127.0.9.2"\n'
        f"tcp_port = 0\nping_port = 0\npeer_tcp_port = {port}\npeer_ping_port = {port}\n"
        'command = ["{python}", "-m", "reference_qm", "--config", '
        f'"{folder}/qm-{{worker}}.toml", "--address", "{{address}}", "--tcp-port", "{{tcp_port}}", "--ping-port", '
        '"{ping_port}", "--control", "127.0.0.1:{control_port}"]\n[control]\nkind = "jsonl"\n'
        "[capabilities]\nping = true\n",
    )


def test_each_worker_has_a_process_and_addresses_of_its_own(tmp_path: Path) -> None:
    selection = ("--select", "MQQB-2.2.2", "--select", "MQQB-2.1.2")
    run = ("run", "--sut", loopback(tmp_path), "--out", tmp_path / "run", *selection)
    done = mqconform(*run, "--workers", 2)
    assert done.returncode == 0, done.stdout
    assert {name.name for name in (tmp_path / "run").glob("sut*.log")} == {"sut.log", "sut-1.log"}
    assert "127.0.9.1" in (tmp_path / "run/sut.log").read_text()
    assert "127.0.10.1" in (tmp_path / "run/sut-1.log").read_text()
    judged = {line["verdict"] for line in verdicts(tmp_path / "run") if not line["advice"]}
    assert {"pass"} <= judged <= {"pass", "not_applicable", "not_exercised"}


def systems_of(process: subprocess.Popen[str]) -> list[int]:
    return [pid for pid in workers_of(process) if b"reference_qm" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.parametrize("workers", [1, 2])
def test_terminated_run_stops_started_processes(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "run"
    with begun(folder, loopback(tmp_path), workers) as process:
        systems = systems_of(process)
        assert len(systems) == workers
        process.terminate()
        assert end_of(process) == EXIT_INTERRUPTED
    assert not any(Path(f"/proc/{pid}").exists() for pid in systems)
    assert run_json(folder)["aborted"] == "interrupted"


def test_killed_run_ends_started_systems(tmp_path: Path) -> None:
    with begun(tmp_path / "run", loopback(tmp_path)) as process:
        systems = systems_of(process)
        assert len(systems) == 2
        process.kill()
        assert end_of(process) == -signal.SIGKILL
    until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in systems), "the systems end")


def test_empty_selection_gives_one_line_error_with_workers(tmp_path: Path) -> None:
    done = mqconform("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", "-k", "nothing_matches", "--workers", 2)
    assert done.returncode == 2
    assert "matches no check" in done.stdout + done.stderr
