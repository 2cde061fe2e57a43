"""Copies the logs of a system and of its control channel into the site."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from reports.model import Run
from reports.runs import resolve_file_inside_folder
from reports.site import names

LOG_PATTERNS = ("sut*.log", "control*.log")
"""The patterns of the names of logs in a run folder. The logs of all workers except the first have numbers in their
names.
"""
MAX_SHOWN_LOGS = 16
LOG_OCTETS_COPIED = 1 << 20
"""The maximum number of octets to copy from a log. Of a longer log, only the end is copied."""


@dataclass(frozen=True, slots=True)
class CopiedLog:
    """A log that was copied into the site. ``octets``: the size of the whole log."""

    name: str
    page: str
    octets: int

    @property
    def is_cut(self) -> bool:
        """Whether the copy contains only the end of the log."""
        return self.octets > LOG_OCTETS_COPIED


def copy_logs(site: Path, folder: Path | None, run: Run) -> list[CopiedLog]:
    """Copy the logs of a run that are not empty, and return them. For a remote folder, return an empty list."""
    if folder is None or not folder.is_dir():
        return []
    found = [path.name for pattern in LOG_PATTERNS for path in sorted(folder.glob(pattern))][:MAX_SHOWN_LOGS]
    logs = (_copy_log(site, folder.resolve(), name, run) for name in found)
    return [log for log in logs if log is not None]


def _copy_log(site: Path, folder: Path, name: str, run: Run) -> CopiedLog | None:
    source = resolve_file_inside_folder(folder, name)
    octets = source.stat().st_size if source is not None else 0
    if source is None or not octets:
        return None
    # The suffix is always .txt, so that a browser shows the content as text.
    page = names.name_log_file_of_run(run.run, name)
    with source.open("rb") as log:
        log.seek(max(0, octets - LOG_OCTETS_COPIED), os.SEEK_SET)
        (site / page).write_bytes(log.read(LOG_OCTETS_COPIED))
    return CopiedLog(name, page, octets)
