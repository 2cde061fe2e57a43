"""The lock of a run folder admits one process at a time, and ends with its process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.run.lock import RunLock
from harness.run_folder import LOCK_FILE


def in_child(work: Callable[[], None]) -> int:
    """Run a function in a child process; return the pid of the child when the function has ended. The child then waits
    until it is killed.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os.write(write, b"1")
            signal.pause()
        finally:
            os._exit(1)
    os.close(write)
    assert os.read(read, 1) == b"1"
    os.close(read)
    return pid


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_run_folder_locked_by_another_process_is_refused_with_its_pid(tmp_path: Path) -> None:
    pid = in_child(lambda: RunLock.take(tmp_path) and None)
    try:
        with pytest.raises(
            UsageError, match=f"process {pid} is writing a run to this folder; wait until it ends, or give another"
        ):
            RunLock.take(tmp_path)
    finally:
        kill(pid)


def test_run_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    kill(in_child(lambda: RunLock.take(tmp_path) and None))
    assert (tmp_path / LOCK_FILE).is_file()
    lock = RunLock.take(tmp_path)
    assert (tmp_path / LOCK_FILE).read_text(encoding="ascii") == f"{os.getpid()}\n"
    lock.release()


def test_run_lock_of_a_killed_process_is_free_while_its_forks_live(tmp_path: Path) -> None:
    read, write = os.pipe()

    def fork_worker() -> None:
        RunLock.take(tmp_path)
        if (worker := os.fork()) == 0:
            signal.pause()
        os.write(write, f"{worker}".encode())

    kill(in_child(fork_worker))
    worker = int(os.read(read, 32))
    RunLock.take(tmp_path).release()
    os.kill(worker, signal.SIGKILL)
    os.close(read)
    os.close(write)


def test_released_run_lock_leaves_no_file(tmp_path: Path) -> None:
    lock = RunLock.take(tmp_path)
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
