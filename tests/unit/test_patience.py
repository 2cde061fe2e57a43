"""Tests wait for a child process that makes progress, however slowly, and kill a child process that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import Hung, Watch, communicate, end_of, run_watched, until
from process_tree import cpu_s, descendants, session_members

SILENCE_S = 20.0
HANGS = "import sys, time; print('begun', flush=True); time.sleep(3600)"
STARTS_ONE_THAT_HANGS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HANGS!r}])"


class Clock:
    """A clock that a test sets, so that no test waits."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that computes for ever."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process
        process.kill()


@pytest.fixture
def idle() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that never makes progress."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("program", [HANGS, STARTS_ONE_THAT_HANGS])
def test_hanging_child_is_killed_with_its_children_and_named_in_the_error(program: str):
    # As short as this, a slow start may be taken for silence too; then it has printed nothing, and is killed as well.
    with pytest.raises(Hung, match=r"neither printed nor computed nor wrote anything for 1 s: it was killed") as caught:
        run_watched([sys.executable, "-c", program], silence_s=1)
    pid = int(str(caught.value).split()[1])
    until(lambda: not list(session_members(pid)), "the end of what was killed")
    assert "sleep(3600)" in caught.value.__notes__[0]


def test_child_process_that_prints_is_not_killed(clock: Clock, idle: subprocess.Popen[bytes]):
    watch = Watch(idle.pid, silence_s=SILENCE_S, clock=clock)
    for printed in range(1, 10):
        clock.now_s += SILENCE_S - 1
        watch.look(printed)
    clock.now_s += SILENCE_S
    with pytest.raises(Hung):
        watch.look(printed)
    assert idle.wait() == -signal.SIGKILL


def test_folder_removed_while_its_parent_is_read_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, idle: subprocess.Popen[bytes]
):
    (tmp_path / "kept").write_text("kept")
    temporary = tmp_path / "_temporary"
    temporary.mkdir()
    read = os.scandir

    def read_after_removal(path: os.PathLike[str] | str) -> object:
        if os.fspath(path) == str(temporary) and temporary.exists():
            temporary.rmdir()
        return read(path)

    watch = Watch(idle.pid, tmp_path, SILENCE_S, clock=clock)
    monkeypatch.setattr(os, "scandir", read_after_removal)
    watch.look()
    assert not temporary.exists()
    assert watch.seen[1] == 2, "the entries of tmp_path were not counted"


def test_child_process_that_computes_is_not_killed(clock: Clock, busy: subprocess.Popen[bytes]):
    watch = Watch(busy.pid, silence_s=SILENCE_S, clock=clock)
    for _ in range(2):
        enough = watch.cpu_s + SILENCE_S / 50
        until(lambda enough=enough: cpu_s(busy.pid) > enough, "the process computes")
        clock.now_s += 2 * SILENCE_S
        watch.look()
    os.kill(busy.pid, signal.SIGSTOP)
    watch.look()
    clock.now_s += SILENCE_S
    with pytest.raises(Hung):
        watch.look()


def test_child_process_whose_own_child_computes_is_not_killed(clock: Clock):
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        watch = Watch(process.pid, silence_s=SILENCE_S, clock=clock)
        until(lambda: cpu_s(*descendants(process.pid)) > SILENCE_S / 50, "the child of the process computes")
        clock.now_s += SILENCE_S
        watch.look()
        clock.now_s += SILENCE_S / 2
        watch.total_s = 0
        with pytest.raises(Hung):
            watch.look()
    assert process.returncode == -signal.SIGKILL


def test_child_process_that_writes_a_file_is_not_killed(clock: Clock, idle: subprocess.Popen[bytes], tmp_path: Path):
    watch = Watch(idle.pid, tmp_path, SILENCE_S, clock=clock)
    for name in ("one", "two"):
        clock.now_s += SILENCE_S
        (tmp_path / name).touch()
        watch.look()
    clock.now_s += SILENCE_S
    os.utime(tmp_path / "two", ns=(0, 2**62))
    watch.look()
    clock.now_s += SILENCE_S
    with pytest.raises(Hung):
        watch.look()


def test_child_process_that_is_busy_forever_is_killed(clock: Clock, busy: subprocess.Popen[bytes]):
    watch = Watch(busy.pid, silence_s=1e9, total_s=100, clock=clock)
    clock.now_s = 99
    watch.look()
    clock.now_s = 100
    with pytest.raises(Hung, match="did not end within 100 s"):
        watch.look()
    assert busy.wait() == -signal.SIGKILL


def test_output_and_exit_code_of_a_child_are_returned():
    done = run_watched([sys.executable, "-c", "import sys; print('out'); sys.exit('err')"])
    assert (done.returncode, done.stdout, done.stderr) == (1, "out\n", "err\n")
    with pytest.raises(AssertionError, match="ended with 1"):
        run_watched(["false"], check=True)
    with subprocess.Popen(["echo", "said"], stdout=subprocess.PIPE) as process:
        assert communicate(process) == (b"said\n", None)
        assert end_of(process) == 0
