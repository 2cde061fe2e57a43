"""Finds a process and its descendants in /proc, and the CPU time that they used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> Iterator[int]:
    """Yield the descendants of a process, including those that have ended but that their parent has not waited for."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for thread in threads:
        try:
            children = (thread / "children").read_text("ascii").split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def session_members(pid: int) -> Iterator[int]:
    """Yield the processes of the session that a process leads, including processes whose parents have ended."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and _fields(int(entry.name))[3:4] == [str(pid)]:
            yield int(entry.name)


def cpu_s(*pids: int) -> float:
    """Return the CPU seconds that the processes used, including the CPU time of ended children that were waited for."""
    return sum(map(_ticks, pids)) / TICKS_PER_S


def _ticks(pid: int) -> int:
    """Return the sum of utime, stime, cutime and cstime of a process."""
    return sum(map(int, _fields(pid)[11:15]))


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the process name, which may contain spaces; empty if the process has
    ended.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []
