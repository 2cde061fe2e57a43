"""Reports the current stage of a long command on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

FIRST_REPORT_AFTER_S = 5
"""The number of seconds before a command begins to report its stages."""
TERMINAL_INTERVAL_S, PIPED_INTERVAL_S = 1, 30
"""The number of seconds between two reports, on a terminal and in a pipe."""
_ERASE_LINE_SEQUENCE = "\r\x1b[2K"


class Progress:
    """Reports the stages of a command on stderr after `FIRST_REPORT_AFTER_S` seconds, with the remaining time if it
    is known.

    On a terminal, the reports replace each other on one line, which is erased at the end. In a pipe, a new line follows
    every `PIPED_INTERVAL_S` seconds. An instance that is used as a context manager also reports during a long stage.
    """

    def __init__(self, command: str, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._command = command
        self._output = out or _open_second_stderr()
        self._closes_output = self._output not in (out, sys.stderr)
        self._clock = clock
        self._command_start = self._stage_start = clock()
        self._last_report_time: float | None = None
        self._stage, self._done, self._whole = "", 0, 0
        self._is_watched, self._is_at_rest = self._output.isatty(), False
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat_line, daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self.erase_line()
        if self._closes_output:
            self._output.close()

    def __call__(self, stage: str, done: int = 0, whole: int = 0) -> None:
        """Report a stage. ``whole`` is the number of parts of the stage, or 0 if this number is unknown; ``done`` is
        the number of finished parts.
        """
        now = self._clock()
        with self._lock:
            if self._is_at_rest:
                self._is_at_rest, self._command_start = False, now
            if stage != self._stage:
                self._stage, self._stage_start = stage, now
            self._done, self._whole = done, whole
            self._print_line(now)

    def pause(self) -> None:
        """Report nothing until the next stage begins. Then wait `FIRST_REPORT_AFTER_S` seconds, as at the start of a
        command, before the next report.
        """
        with self._lock:
            self._is_at_rest, self._last_report_time = True, None

    def erase_line(self) -> None:
        """Erase the report on a terminal, before the command writes other output."""
        with self._lock:
            if self._is_watched and self._last_report_time is not None:
                self._output.write(_ERASE_LINE_SEQUENCE)
                self._output.flush()

    def _repeat_line(self) -> None:
        while not self._ended.wait(TERMINAL_INTERVAL_S):
            with self._lock:
                self._print_line(self._clock())

    def _print_line(self, now: float) -> None:
        pause = TERMINAL_INTERVAL_S if self._is_watched else PIPED_INTERVAL_S
        if (
            self._is_at_rest
            or now - self._command_start < FIRST_REPORT_AFTER_S
            or (self._last_report_time is not None and now - self._last_report_time < pause)
        ):
            return
        self._last_report_time = now
        parts = [f"mqconform {self._command}: {self._stage}"]
        if self._whole:
            parts.append(f"{self._done:,} of {self._whole:,}")
            if self._done:
                left = (now - self._stage_start) / self._done * (self._whole - self._done)
                parts.append(f"about {_format_seconds(left)} left")
        parts.append(f"{_format_seconds(now - self._command_start)} so far")
        line = ", ".join(parts)
        if self._is_watched:
            width = shutil.get_terminal_size().columns
            self._output.write(f"{_ERASE_LINE_SEQUENCE}{line if len(line) < width else line[: width - 2] + '…'}")
        else:
            self._output.write(f"{line}\n")
        self._output.flush()


def _open_second_stderr() -> TextIO:
    """Return a second stream to the present stderr, which stays usable while descriptor 2 is redirected for the start
    of Java.
    """
    try:
        descriptor = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # stderr has no descriptor
        return sys.stderr
    return os.fdopen(descriptor, "w", encoding=sys.stderr.encoding, errors=sys.stderr.errors)


def _format_seconds(seconds: float) -> str:
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
