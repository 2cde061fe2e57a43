"""Copies the logs of a system and its control channel beside the pages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from reports.model import Run
from reports.runs import inside
from reports.site import names

PATTERNS = ("sut*.log", "control*.log")
"""The logs of a run folder: the first of each kind has no number, the logs of further workers have one."""
LOGS_SHOWN = 16
OCTETS = 1 << 20
"""The copied part of a longer log in octets: its end."""


@dataclass(frozen=True, slots=True)
class Log:
    """A copied log; ``octets``: of the whole log."""

    name: str
    page: str
    octets: int

    @property
    def is_cut(self) -> bool:
        """Whether the copy is only the end of the log."""
        return self.octets > OCTETS


def copy_logs(site: Path, folder: Path | None, run: Run) -> list[Log]:
    """Copy the non-empty logs of a run; none for a remote folder."""
    if folder is None or not folder.is_dir():
        return []
    found = [path.name for pattern in PATTERNS for path in sorted(folder.glob(pattern))][:LOGS_SHOWN]
    logs = (_copy_log(site, folder.resolve(), name, run) for name in found)
    return [log for log in logs if log is not None]


def _copy_log(site: Path, folder: Path, name: str, run: Run) -> Log | None:
    source = inside(folder, name)
    octets = source.stat().st_size if source is not None else 0
    if source is None or not octets:
        return None
    # The suffix is always .txt, so that a browser shows the content as text.
    page = names.run_log(run.run, name)
    with source.open("rb") as log:
        log.seek(max(0, octets - OCTETS), os.SEEK_SET)
        (site / page).write_bytes(log.read(OCTETS))
    return Log(name, page, octets)
