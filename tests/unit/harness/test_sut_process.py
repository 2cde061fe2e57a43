"""The program that a run starts: the run and its workers learn how the program ended."""

from __future__ import annotations

import os
import select
import signal
import sys
from pathlib import Path

import pytest
from patience import until

from harness.errors import SutUnavailable
from harness.sut.process_driver import assign_free_ports
from harness.sut.sut_file import DriverTable
from harness.sut.sut_process import SutProcess

LONG_S = 30


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "how"), [("raise SystemExit(7)", "exit status 7"), ("import os; os.abort()", "SIGABRT")]
)
def test_end_of_the_system_process_is_reported(tmp_path: Path, code: str, how: str) -> None:
    process = SutProcess(tmp_path / "log")
    process.start(python(f"print('said', flush=True); {code}"))
    assert process.describe_end(LONG_S) == how
    assert process.last_line() == "said"
    process.start(["sleep", "60"])
    assert process.describe_end() is None
    process.stop()
    assert process.describe_end() == "SIGTERM"


def test_worker_learns_end_of_system_from_starting_process(tmp_path: Path) -> None:
    process = SutProcess(tmp_path / "log")
    process.start(["sleep", "60"])
    read, write = os.pipe()
    worker = os.fork()
    if worker == 0:
        said = [process.is_started_by_this_process, process.describe_end()]
        os.write(write, b"1")
        said.append(process.describe_end(LONG_S))
        os._exit(0 if said == [False, None, "SIGKILL"] else 1)
    os.read(read, 1)
    os.kill(process.pid, signal.SIGKILL)
    assert process.describe_end(LONG_S) == "SIGKILL"
    assert os.waitpid(worker, 0)[1] == 0
    process.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pidfd")
def test_children_of_the_system_process_are_stopped_with_it(tmp_path: Path) -> None:
    process = SutProcess(tmp_path / "log")
    process.start(["sh", "-c", "sleep 60 & echo $! ; exit 3"])
    assert process.describe_end(LONG_S) == "exit status 3"
    child = os.pidfd_open(int(process.last_line()))
    process.stop()
    assert select.select([child], [], [], LONG_S)[0]
    os.close(child)


STARTED = "setsid sleep 60 & echo $!; sleep 60 & echo $!; echo $$; exec env -i sleep 60"
"""A program that starts a daemon and a child, prints all three pids, and continues with an empty environment."""


def pids_in(log: Path, count: int = 3) -> list[int]:
    until(lambda: log.is_file() and log.read_text("ascii").count("\n") >= count, "the program started its children")
    return [int(line) for line in log.read_text("ascii").split()]


def assert_they_end(pids: list[int]) -> None:
    until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in pids), "all of them end")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_killed_run_ends_processes_of_its_program(tmp_path: Path) -> None:
    run = os.fork()
    if run == 0:
        SutProcess(tmp_path / "log").start(["sh", "-c", STARTED])
        signal.pause()
    pids = pids_in(tmp_path / "log")
    os.kill(run, signal.SIGKILL)
    os.waitpid(run, 0)
    assert_they_end(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_daemon_of_the_started_program_is_stopped_while_workers_live(tmp_path: Path) -> None:
    process = SutProcess(tmp_path / "log")
    process.start(["sh", "-c", STARTED])
    pids = pids_in(tmp_path / "log")
    if (worker := os.fork()) == 0:
        signal.pause()
    process.stop()
    assert_they_end(pids)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)


def test_missing_program_of_the_sut_file_is_named(tmp_path: Path) -> None:
    process = SutProcess(tmp_path / "log")
    with pytest.raises(SutUnavailable, match="cannot start /nowhere/qm: No such file or directory"):
        process.start(["/nowhere/qm"])
    process.stop()


def test_every_configured_port_of_0_is_replaced_by_a_free_port() -> None:
    ports = ("tcp_port", "ping_port", "rpc_port", "peer_tcp_port", "peer_ping_port", "peer_rpc_port")
    picked = assign_free_ports(
        DriverTable("process", "127.0.43.1", peer_address="127.0.43.2", **dict.fromkeys(ports, 0))
    )
    assert all(getattr(picked, name) for name in ports)
    assert picked.rpc_read_port == 0  # asked of the system
    assert assign_free_ports(DriverTable("process", tcp_port=1801)).tcp_port == 1801
