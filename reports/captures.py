"""Captures copied beside the pages, under names of our own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from reports.model import Cell, Run
from reports.runs import inside
from reports.text import one_line, slug


@dataclass(slots=True)
class CaptureStore:
    """The captures that pages link to, copied; ``missing`` names what a verdict points at and cannot be had."""

    site: Path
    runs: dict[str, Run]
    links: dict[tuple[str, str], str | None] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def link(self, cell: Cell, capture: str) -> str | None:
        """Return the copy's path below the site; None when the run folder has no such file of its own."""
        key = (cell.run, capture)
        if key not in self.links:
            self.links[key] = self._copy(*key)
        return self.links[key]

    def _copy(self, run: str, capture: str) -> str | None:
        source = inside(self.runs[run].folder, capture)
        if source is None:
            self.missing.append(f"{one_line(run, 60)}: {one_line(capture, 120)}")
            return None
        # Always .pcapng: whatever the file is, a browser offers to save it and does not run it.
        name = f"captures/{slug(run)}/{slug(capture)}.pcapng"
        target = self.site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return name
