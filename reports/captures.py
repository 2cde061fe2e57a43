"""Captures copied beside the pages, under names of our own, and the packets that are shown of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reports.model import Frame, Standing
from reports.runs import inside
from reports.text import one_line, slug

ShowPackets = Callable[[Path, Standing], tuple[Frame, ...]]
"""Makes the packets of a verdict from its capture."""


@dataclass(slots=True)
class CaptureStore:
    """The captures that pages link to, copied; ``missing`` names what a verdict points at and cannot be had.

    ``folder_of``: the local folder of a run; None where it is elsewhere or nobody knows it.
    """

    site: Path
    folder_of: Callable[[str], Path | None]
    show: ShowPackets = lambda _, standing: standing.evidence
    missing: list[str] = field(default_factory=list)
    _links: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def link(self, standing: Standing) -> str | None:
        """Return the copy's path below the site; None when the run folder has no such file of its own."""
        if not standing.capture:
            return None
        key = (standing.run, standing.capture)
        if key not in self._links:
            self._links[key] = self._copy_capture(*key)
        return self._links[key]

    def list_copies(self, run: str) -> dict[str, str]:
        """Return the captures of a run that were copied: the names in its folder, with the paths below the site."""
        return {name: link for (of, name), link in sorted(self._links.items()) if of == run and link}

    def frames(self, standing: Standing) -> tuple[Frame, ...]:
        """Return the packets of a verdict, as it carries them or made from its capture."""
        if not standing.evidence or any(frame.hex for frame in standing.evidence):
            return standing.evidence
        link = self.link(standing)
        return self.show(self.site / link, standing) if link else standing.evidence

    def _copy_capture(self, run: str, capture: str) -> str | None:
        folder = self.folder_of(run)
        source = inside(folder.resolve(), capture) if folder else None
        if source is None:
            self.missing.append(f"{one_line(run, 60)}: {one_line(capture, 120)}")
            return None
        # Always .pcapng: whatever the file is, a browser offers to save it and does not run it.
        name = f"captures/{slug(run)}/{slug(capture)}.pcapng"
        target = self.site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return name
