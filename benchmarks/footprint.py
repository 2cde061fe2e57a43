"""Measures the elapsed seconds, processor seconds and memory of a command with all its processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class Footprint:
    """The cost of a command: elapsed and processor seconds, the largest resident memory in bytes, and its output."""

    seconds: float
    processor_s: float
    memory: int
    code: int
    said: str


def measure_footprint(command: Sequence[str]) -> Footprint:
    """Run a command to its end, and watch the command and its child processes."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    memory, spent = 0, dict[int, float]()
    while process.poll() is None:
        seen = [_read_process(pid) for pid in (process.pid, *list_descendants(process.pid))]
        memory = max(memory, sum(octets for _, octets, _ in seen))
        spent |= {pid: seconds for pid, _, seconds in seen}
        time.sleep(_PAUSE_S)
    said = process.communicate()[0].decode()
    return Footprint(time.monotonic() - began, sum(spent.values()), memory, process.returncode, said)


def list_descendants(pid: int) -> list[int]:
    """Return the child processes of a process, which any of its threads may have started, and the children of these
    processes.
    """
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            found += map(int, children.read_text().split())
    return [each for child in found for each in (child, *list_descendants(child))]


def _read_process(pid: int) -> tuple[int, int, float]:
    """Return a process, its resident memory in bytes and its processor seconds, or an empty result if the process
    has just ended.
    """
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError):
        return pid, 0, 0.0
    return pid, pages * _PAGE, (int(fields[11]) + int(fields[12])) / _TICKS
