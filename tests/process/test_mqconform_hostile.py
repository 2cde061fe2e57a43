"""Runs against systems that attack the tester: each run ends soon, in little memory, with verdicts about the system."""

from __future__ import annotations

import contextlib
import itertools
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqconform_process import MQCONFORM, ROOT, Ran, command, mqconform, run_json, sut, verdicts
from qm_process import free_port

HERE = Path(__file__).parent
MEMORY = 400 * 1024 * 1024
"""The maximum memory of a run in bytes, whatever its SUT sends; the harness itself needs about 150 MiB."""
CAPTURES = 200_000_000
"""The maximum size in bytes of the captures of a run, whatever its SUT sends."""
OF_A_CHECK = 60_000_000
"""The additional size in bytes of a capture by a check that another worker had begun before the run was ended."""

WITHOUT_READS = ("messages", "short-messages", "connections")
"""The hostile systems whose SUT files declare no remote reading."""


@contextlib.contextmanager
def hostile(kind: str, folder: Path) -> Iterator[Path]:
    """Run a hostile system; yield a SUT file for it."""
    peer_port = free_port("127.0.0.2")
    with subprocess.Popen(
        [sys.executable, HERE / "hostile_servers.py", kind, str(peer_port)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            tcp_port, rpc_port, control_port = server.stdout.readline().split()[1:]
            reads = "false" if kind in WITHOUT_READS else "true"
            control = f'[control]\nkind = "jsonl"\naddress = "127.0.0.1:{control_port}"\n' if kind == "nested" else ""
            yield sut(
                folder,
                f'[sut]\nname = "{kind}"\nversion = "1"\n[driver]\nkind = "external"\naddress = "127.0.0.1"\n'
                f"tcp_port = {tcp_port}\nrpc_port = {rpc_port}\n"
                f"peer_tcp_port = {peer_port}\npeer_ping_port = {free_port('127.0.0.2')}\n"
                f"peer_rpc_port = {free_port('127.0.0.2')}\n{control}[capabilities]\nqm2qm = {reads}\n",
            )
        finally:
            server.terminate()


def run_against_hostile_system(kind: str, folder: Path, *options: str) -> Ran:
    """Run checks against a hostile system in a process that may use at most `MEMORY` bytes."""
    out = folder / "out"
    with hostile(kind, folder) as file:
        done = mqconform("run", "--sut", file, "--out", out, *options, limits={resource.RLIMIT_DATA: MEMORY})
    return Ran(out, done.returncode, done.stdout + done.stderr)


SESSION = ("--rule", "MQQB-3.1.5.4.1-05", "-k", "connection_parameters_request_opens_session")


def verdicts_of(found: Ran) -> set[str]:
    return {line["verdict"] for line in verdicts(found.folder)}


@pytest.mark.parametrize("workers", [1, 2])
def test_flood_gives_named_verdict_and_third_flood_ends_run(tmp_path: Path, workers: int) -> None:
    """A system that endlessly sends messages of 4 MiB gets a named verdict, and the third flood ends the run. Once such
    a run used 8.5 GB in 38 s and wrote a capture of 134 MB for each of 1,456 checks.
    """
    found = run_against_hostile_system("messages", tmp_path, "--select", "MQQB-3.1.5.4.1", "--workers", str(workers))
    assert found.code == 2, found.said
    assert "harness_error" not in verdicts_of(found), found.said
    lines = verdicts(found.folder)
    floods = [line for line in lines if "ms of one check" in (line["reason"] or "")]
    assert floods, found.said
    assert {(line["verdict"], line["rule"] == "ROBUSTNESS-1-FLOOD") for line in floods if not line["observed"]} == {
        ("inconclusive", False)
    }
    assert [line["verdict"] for line in lines if line["rule"] == "ROBUSTNESS-1-FLOOD"] == ["fail"] * 3
    why = "the SUT sent packets endlessly in 3 checks"
    assert why in run_json(found.folder)["aborted"]
    assert why in found.said
    captured = sum(each.stat().st_size for each in (found.folder / "captures").iterdir())
    assert captured < CAPTURES + (workers - 1) * OF_A_CHECK


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("short-messages", "bytes and 12288 packets"),
        ("connections", "the SUT has opened more than 512 connections within one check"),
    ],
)
def test_many_small_packets_count_as_flood(tmp_path: Path, kind: str, why: str) -> None:
    found = run_against_hostile_system(kind, tmp_path, "--rule", "REGRESSIONS-898618-02")
    assert found.code == 1, found.said
    [flood] = [line for line in verdicts(found.folder) if line["rule"] == "ROBUSTNESS-1-FLOOD"]
    assert flood["verdict"] == "fail"
    assert flood["observed"].endswith(why)
    assert "harness_error" not in verdicts_of(found), found.said


def test_endless_junk_gives_verdict_and_counts_as_flood(tmp_path: Path) -> None:
    found = run_against_hostile_system("junk", tmp_path, *SESSION)
    assert found.code == 2, found.said
    assert "the SUT sent packets endlessly in 3 checks" in found.said
    assert "harness_error" not in verdicts_of(found), found.said


def test_trickled_bytes_do_not_delay_check_endlessly(tmp_path: Path) -> None:
    """Single bytes, each of which is progress for a read, do not complete a message: the start of the run and its
    checks end nevertheless.
    """
    found = run_against_hostile_system("trickle", tmp_path, *SESSION, "--check-limit", "10")
    assert found.code == 1, found.said
    assert "harness_error" not in verdicts_of(found), found.said


@pytest.mark.parametrize("kind", ["short-trailer", "silent-rpc", "nested"])
def test_illegal_packets_of_system_give_no_harness_error(tmp_path: Path, kind: str) -> None:
    found = run_against_hostile_system(kind, tmp_path, "--rule", "MQQP-3.1.4.4-06", "-k", "closed_queue_is_free")
    assert found.code == 1, found.said
    assert verdicts(found.folder), found.said
    assert "harness_error" not in verdicts_of(found), found.said
    assert "Traceback" not in found.said


@pytest.mark.parametrize("workers", [1, 2])
def test_checks_not_started_by_deadline_run_on_resume(tmp_path: Path, workers: int) -> None:
    out = tmp_path / "out"
    run = ("run", "--sut", sut(tmp_path), "--out", out, "--select", "MQQB-3.1.5.4", "--workers", workers)
    plugin = {"PYTEST_PLUGINS": "late_at_once", "PYTHONPATH": str(HERE)}
    cut = command(*MQCONFORM, *run, "--deadline", "1000", **plugin)
    assert cut.returncode == 1, cut.stdout
    left = re.search(r"\(partial: the deadline of 1000 s passed before (\d+) checks were started; --resume", cut.stdout)
    assert left, cut.stdout
    words = ["to resume: mqconform run --select MQQB-3.1.5.4", "--out", str(out), "--resume"]
    assert [line for line in cut.stdout.splitlines() if all(word in line for word in words)], cut.stdout
    before = {line["test"] for line in verdicts(out)}
    assert "inconclusive" not in {line["verdict"] for line in verdicts(out)}
    done = mqconform(*run, "--resume")
    assert done.returncode == 0, done.stdout
    assert "deadline" not in done.stdout
    assert len({line["test"] for line in verdicts(out)} - before) == int(left[1])


FEWER, MORE = ("--rule", "MQQB-2.2.1-03"), "MQQB-2.2.3-01"


def with_room(room: int, *arguments: object) -> str:
    """Run checks with a limit of the file size, as on a disk that becomes full: the run must end with exit code 2 and a
    one-line message. Return the output.
    """
    full = mqconform("run", *arguments, limits={resource.RLIMIT_FSIZE: room})
    said = full.stdout + full.stderr
    assert full.returncode == 2, said
    assert "cannot be written: File too large; remove the cause, then continue with --resume" in said
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Return a run folder as large as after a long run, and a limit of its size in bytes that it has nearly reached."""
    folder = tmp_path_factory.mktemp("full")
    out = folder / "out"
    path, run = out / "verdicts.jsonl", ["--sut", sut(folder), "--out", out]
    assert "rules.json cannot be written" in with_room(100_000, *run, *FEWER)
    assert mqconform("run", *run, "--resume", *FEWER).returncode in (0, 5)
    room = (out / "rules.json").stat().st_size + 100_000
    lines = path.read_bytes().splitlines(keepends=True)
    longest = max(map(len, lines))
    with path.open("ab") as file:
        for line in itertools.takewhile(lambda _: file.tell() < room - longest, itertools.cycle(lines)):
            file.write(line)
    return out, room


@pytest.mark.parametrize("workers", [1, 2])
def test_full_disk_of_run_folder_gives_one_line_error_and_run_can_resume(
    full: tuple[Path, int], tmp_path: Path, workers: int
) -> None:
    folder, room = full
    out = shutil.copytree(folder, tmp_path / "out")
    path = out / "verdicts.jsonl"
    before = len(verdicts(out))
    again = ["--sut", sut(tmp_path), "--out", out, "--resume", *FEWER, "--rule", MORE, "--workers", workers]
    assert "verdicts.jsonl cannot be written" in with_room(room, *again)
    assert path.stat().st_size <= room
    assert len(verdicts(out)) >= before
    resumed = mqconform("run", *again)
    assert resumed.returncode in (0, 5), resumed.stdout
    assert path.stat().st_size > room
    assert "harness_error" not in {line["verdict"] for line in verdicts(out)}
