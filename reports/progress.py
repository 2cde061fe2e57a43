"""What a command that takes long does now, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

QUIET_S = 5
"""Seconds after which a command says what it does."""
WATCHED_S, PIPED_S = 1, 60
"""Seconds between two lines on a terminal, and where nobody watches."""


class Progress:
    """Told of each stage; says it once the command has taken `QUIET_S`, with the time that is left where it is known.

    In a pipe there is a line a minute: quiet for whoever keeps it, and not silent for whoever waits.
    """

    def __init__(self, command: str, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._command = command
        self._out = out or sys.stderr
        self._clock = clock
        self._began = self._stage_began = clock()
        self._said: float | None = None
        self._stage = ""

    def __call__(self, stage: str, done: int = 0, whole: int = 0) -> None:
        """Say that a stage is at work, of which ``done`` parts of ``whole`` (0: nobody knows) are there."""
        now = self._clock()
        if stage != self._stage:
            self._stage, self._stage_began = stage, now
        if now - self._began < QUIET_S:
            return
        pause = WATCHED_S if self._out.isatty() else PIPED_S
        if self._said is not None and now - self._said < pause:
            return
        self._said = now
        parts = [f"mqconform {self._command}: {stage}"]
        if whole:
            parts.append(f"{done} of {whole}")
            if done:
                left = (now - self._stage_began) / done * (whole - done)
                parts.append(f"about {_seconds(left)} left")
        parts.append(f"{_seconds(now - self._began)} so far")
        self._out.write(", ".join(parts) + "\n")
        self._out.flush()


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
