"""End all processes of a run when the run ends, even if the run is killed. A guard process does this."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
from pathlib import Path

from harness.sut.guard_process import LINE_THAT_ENDS_GUARD

GUARD_PROGRAM = Path(__file__).with_name("guard_process.py")


class ProgramGuard:
    """A guard for programs. When the guard is closed or this process ends, the guard ends all processes that were
    started with its environment variables, and their child processes with the same environment or session.
    """

    def __init__(self) -> None:
        self._mark = f"MQCONFORM_STARTED_{secrets.token_hex(8)}"
        self._process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        """Return the environment variables that a program needs so that it is guarded. Raise OSError if the guard
        process cannot be started.
        """
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", str(GUARD_PROGRAM), self._mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # the guard must not get the signals of the terminal
            )
        return os.environ | {self._mark: "1"}

    def watch(self, pid: int) -> None:
        """Guard the session that a program leads. A process in this session is then guarded even if it changes its
        environment variables.
        """
        self._send_line(str(pid))

    def close(self) -> None:
        """End the guarded processes that are still running, and wait until they have exited."""
        if self._process is not None:
            self._send_line(LINE_THAT_ENDS_GUARD)
            self._process.communicate()
            self._process = None

    def _send_line(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the guard process was killed
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
