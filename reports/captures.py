"""Copies captures into the site under generated names, and provides the packets that pages show."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reports.model import Frame, StandingVerdict
from reports.runs import resolve_file_inside_folder
from reports.text import make_slug, one_line

EvidencePacketFinder = Callable[[Path, StandingVerdict], tuple[Frame, ...]]
"""A function that returns the packets of a verdict from the capture of the verdict."""


@dataclass(slots=True)
class CaptureStore:
    """Stores the captures that were copied into the site. ``missing_captures``: the captures that verdicts name, but
    that no run folder contains.

    ``find_run_folder``: a function that returns the local folder of a run, or None for a remote or unknown folder.
    """

    site: Path
    find_run_folder: Callable[[str], Path | None]
    find_packets: EvidencePacketFinder = lambda _, standing: standing.evidence
    missing_captures: list[str] = field(default_factory=list)
    _copy_path_by_capture: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def copy_capture_of_verdict(self, standing: StandingVerdict) -> str | None:
        """Return the path, relative to the site, of the copy of a capture, or None if the run folder does not
        contain the capture.
        """
        return self.copy_capture(standing.run, standing.capture)

    def copy_capture(self, run: str, capture: str) -> str | None:
        """Copy a capture of a run or a pair into the site. Return the path of the copy relative to the site, or
        None if the capture is missing.
        """
        if not capture:
            return None
        key = (run, capture)
        if key not in self._copy_path_by_capture:
            self._copy_path_by_capture[key] = self._copy_capture(*key)
        return self._copy_path_by_capture[key]

    def list_copies(self, run: str) -> dict[str, str]:
        """Return the copied captures of a run. For each capture, return its name in the run folder and the path of its
        copy below the site.
        """
        return {name: link for (of, name), link in sorted(self._copy_path_by_capture.items()) if of == run and link}

    def find_evidence_packets(self, standing: StandingVerdict) -> tuple[Frame, ...]:
        """Return the packets that are the evidence for a verdict. If the verdict itself does not contain them, read
        them from the capture of the verdict.
        """
        if not standing.evidence or any(frame.hex for frame in standing.evidence):
            return standing.evidence
        link = self.copy_capture_of_verdict(standing)
        return self.find_packets(self.site / link, standing) if link else standing.evidence

    def _copy_capture(self, run: str, capture: str) -> str | None:
        folder = self.find_run_folder(run)
        source = resolve_file_inside_folder(folder.resolve(), capture) if folder else None
        if source is None:
            self.missing_captures.append(f"{one_line(run, 60)}: {one_line(capture, 120)}")
            return None
        # The suffix is always .pcapng, so that a browser saves the file and does not run it.
        name = f"captures/{make_slug(run)}/{make_slug(capture)}.pcapng"
        target = self.site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return name
