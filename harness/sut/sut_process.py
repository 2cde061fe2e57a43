"""Start the program that is the SUT of a run, and observe its state and its end."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import shlex
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.errors import SutUnavailable
from harness.sut.guard import ProgramGuard
from harness.sut.guard_process import STOP_TIMEOUT_S

_POLL_INTERVAL_S = 0.005
_EXIT_STATUS_WAIT_S = 2
"""int s: the maximum time from the end of the program until the exit status is known to the process that started
the program.
"""
_FORMAT_OF_PROCESS_END_IN_SHARED_MEMORY = struct.Struct("<ii")
"""The format of the memory that workers share. It contains whether the program has ended, and its exit status. Only
the process that started the program receives the exit status from the operating system.
"""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The record of one end of the SUT's process during the run. ``check`` is the check that was in progress."""

    worker: int
    check: str | None
    how: str
    said: str


class SutProcess:
    """A program that was started as the SUT, its log, and its last known state. ``ended`` is also valid in workers."""

    def __init__(self, log_path: Path) -> None:
        self.log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._guard = ProgramGuard()
        self._owner = os.getpid()
        self._shared = mmap.mmap(-1, _FORMAT_OF_PROCESS_END_IN_SHARED_MEMORY.size)
        self._running: int | None = None
        """A file descriptor that becomes readable when the program has ended, even in workers. It is None if the
        platform does not support such descriptors.
        """

    @property
    def is_started_by_this_process(self) -> bool:
        """Whether this process started the program. Workers only observe the program."""
        return os.getpid() == self._owner

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, command: Sequence[str]) -> None:
        """Start the program as the leader of its own session, so that the processes which it starts can be
        recognized.

        The program is ended when this process ends, even if this process is killed.
        """
        self._log = self._log or self.log_path.open("ab")
        self._store_end(0, 0)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                env=self._guard.environment(),
                start_new_session=True,
            )
            self._guard.watch(self.pid)
        except OSError as error:
            raise SutUnavailable(f"cannot start {shlex.join(command)}: {error.strerror}") from error
        if sys.platform == "linux":
            self._running = os.pidfd_open(self.pid)

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of how the program ended, or None while it runs. ``within_s`` is the time to wait
        for the end.
        """
        deadline = time.monotonic() + within_s
        while (how := self._read_end()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL_S)
        return how

    def last_line(self) -> str:
        """Return the last line of the program's output."""
        lines = self.log_path.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"

    def stop(self) -> None:
        """End the program and all processes that it started."""
        if self._process is not None:
            self._signal_session(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=STOP_TIMEOUT_S)
            self._signal_session(signal.SIGKILL)
            self._process.wait()
        self._guard.close()
        if self._running is not None:
            os.close(self._running)
            self._running = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def _signal_session(self, number: signal.Signals) -> None:
        """Send a signal to every process in the program's session. Do nothing if the session has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _read_end(self) -> str | None:
        if self.is_started_by_this_process and self._process is not None and self._process.poll() is not None:
            self._store_end(1, self._process.returncode)
        if (
            not self.is_started_by_this_process
            and self._running is not None
            and select.select([self._running], [], [], 0)[0]
        ):
            deadline = time.monotonic() + _EXIT_STATUS_WAIT_S
            while not self._shared[0] and time.monotonic() < deadline:
                time.sleep(_POLL_INTERVAL_S)
        ended, code = _FORMAT_OF_PROCESS_END_IN_SHARED_MEMORY.unpack(self._shared[:])
        if not ended:
            return None
        return describe_end_of_process_code(code)

    def _store_end(self, ended: int, code: int) -> None:
        self._shared[:] = _FORMAT_OF_PROCESS_END_IN_SHARED_MEMORY.pack(ended, code)


def describe_end_of_process_code(code: int) -> str:
    """Return a description of how a process ended, given its return code. A negative return code is the negated
    number of a signal.
    """
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
