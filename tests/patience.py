"""Waits for other processes while they make progress: the limit is the time without progress, never the total speed.

The duration of a command depends on the load of the machine. A child process that prints, computes or writes makes
progress, however slowly, and the tests wait for it; a child process without progress hangs, and is killed. `TOTAL_S`
ends a process that is busy for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from process_tree import cpu_s, descendants, session_members

SILENCE_S = 180.0
TOTAL_S = 3_600.0
LOOK_S = 2.0
"""The seconds between two checks of a process. The end of a process is noticed immediately."""
IDLE = 0.01
"""The share of a processor that a hanging process may still use, because polling programs and Java use some processor
time.
"""
PATIENCE_S = 600
"""The longest wait in seconds for an answer that normally takes milliseconds, such as that of a socket or an event. It
is long enough for any load of the machine.
"""
FEWEST_LOOKS = 1_000
"""The minimum number of checks of a condition before the wait fails: after a machine stood still for ten minutes, the
time limit alone would end the wait too early.
"""


class Hung(AssertionError):
    """An error: a process makes no progress any more, or does not end."""


class Watch:
    """Checks repeatedly whether a process and its child processes make progress; kills all of them if they do not."""

    def __init__(
        self,
        pid: int,
        folder: Path | None = None,
        silence_s: float = SILENCE_S,
        total_s: float = TOTAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pid, self.folder, self.clock = pid, folder, clock
        self.silence_s, self.total_s = silence_s, total_s
        self.began = self.progress = clock()
        self.seen = (0, *_newest(folder))
        self.cpu_s = 0.0

    def look(self, printed: int = 0) -> None:
        """Record the progress since the last check. Raises `Hung`.

        ``printed``: the number of bytes of output of the process so far.
        """
        now = self.clock()
        seen, used = (printed, *_newest(self.folder)), cpu_s(*self.tree())
        if seen != self.seen or abs(used - self.cpu_s) > IDLE * self.silence_s:
            self.progress, self.seen, self.cpu_s = now, seen, used
        if now - self.progress >= self.silence_s:
            self._end(f"neither printed nor computed nor wrote anything for {self.silence_s:g} s")
        if now - self.began >= self.total_s:
            self._end(f"did not end within {self.total_s:g} s")

    def tree(self) -> set[int]:
        return {self.pid, *descendants(self.pid), *session_members(self.pid)}

    def _end(self, why: str) -> None:
        kill(self.tree())
        raise Hung(f"process {self.pid} {why}: it was killed")


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _newest(folder: Path | None) -> tuple[int, int]:
    """Return the number of files below a folder, and the time of their latest change."""
    changed = []
    # `os.walk` passes over a folder that the watched process removes during the walk; `Path.rglob` raises an error.
    for root, folders, files in os.walk(folder) if folder is not None else []:
        for name in folders + files:
            with contextlib.suppress(OSError):
                changed.append(Path(root, name).stat().st_mtime_ns)
    return len(changed), max(changed, default=0)


def run_watched(
    command: Iterable[object],
    *,
    folder: Path | None = None,
    check: bool = False,
    silence_s: float = SILENCE_S,
    total_s: float = TOTAL_S,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and return its output as `subprocess.run` does. Raises `Hung`.

    ``folder``: files that the command writes to this folder count as progress; ``options``: further options of
    `subprocess.Popen`.
    """
    words = [str(each) for each in command]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, start_new_session=True, **(pipes | options)) as process:
        said = communicate(process, Watch(process.pid, folder, silence_s, total_s))
    done = subprocess.CompletedProcess(words, process.returncode, *said)
    if check:
        assert done.returncode == 0, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def communicate(process: subprocess.Popen[Any], watch: Watch | None = None) -> tuple[Any, Any]:
    """Return the output of a process, read until its end. Raises `Hung`, with the output so far."""
    watch = watch or Watch(process.pid)
    while True:
        try:
            return process.communicate(timeout=min(LOOK_S, watch.silence_s))
        except subprocess.TimeoutExpired as waiting:
            said = (waiting.output or b"") + (waiting.stderr or b"")
            try:
                watch.look(len(said))
            except Hung as hung:
                hung.add_note(f"{process.args}\n{said.decode('utf-8', 'replace')}")
                raise
        except BaseException:
            kill({process.pid, *descendants(process.pid)})
            raise


class Process(Protocol):
    """A process whose end a test can wait for: a `subprocess.Popen`, or a fork of a warm process
    (tests/process/warm.py).
    """

    pid: int

    def wait(self, timeout: float) -> int: ...


def end_of(process: Process) -> int:
    """Wait for the end of a process whose output another thread reads; return its exit code. Raises `Hung`."""
    watch = Watch(process.pid)
    while True:
        try:
            return process.wait(LOOK_S)
        except subprocess.TimeoutExpired:
            watch.look()


def _pause() -> None:
    time.sleep(0.01)


def until(condition: Callable[[], object], what: str, pause: Callable[[], object] = _pause) -> None:
    """Check a condition repeatedly until it is true. Raises `Hung` with ``what``, the description of the condition."""
    began, looks = time.monotonic(), 0
    while not condition():
        looks += 1
        if looks > FEWEST_LOOKS and time.monotonic() - began > PATIENCE_S:
            raise Hung(f"{what}: not within {PATIENCE_S} s")
        pause()
