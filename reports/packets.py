"""Reads the packets of a verdict from its capture through an entry point, because the package `reports` contains no
protocol code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from reports.captures import EvidencePacketFinder
from reports.model import Frame, StandingVerdict
from reports.text import MAX_DISSECTION_CHARACTERS, MAX_SHOWN_OCTETS

PACKET_READER_ENTRY_POINT_GROUP = "mqconform.packets"
"""The entry point whose function returns the packets of a capture file for display."""
CapturePacketReader = Callable[[str, str, str, Sequence[tuple[int, int | None, int | None]]], "list[Any] | str"]
"""A function that reads the packets of a verdict. Its arguments are the document and section (one text), the
expected value, the observed value, and (frame, first, last) of each packet.

The function returns the packets, each with the fields of a `Frame` and ``data`` (octets), or the reason why they
cannot be shown.
"""
MAX_CACHED_CAPTURES = 32


def get_packet_reader() -> EvidencePacketFinder:
    """Return the function that reads the packets of a verdict. If no such function is installed, pages only name the
    packets.
    """
    for entry in entry_points(group=PACKET_READER_ENTRY_POINT_GROUP):
        return _PacketReader(entry.load())
    return lambda _, standing: standing.evidence


class _PacketReader:
    """Reads the packets of verdicts, and keeps the most recently used captures in memory, because the verdicts of a
    section often refer to the same captures.
    """

    def __init__(self, read: Callable[[Path], CapturePacketReader]) -> None:
        self.read = read
        self.kept: dict[Path, CapturePacketReader] = {}

    def __call__(self, path: Path, standing: StandingVerdict) -> tuple[Frame, ...]:
        show = self.kept.pop(path, None) or self.read(path)
        self.kept[path] = show
        if len(self.kept) > MAX_CACHED_CAPTURES:
            del self.kept[next(iter(self.kept))]
        wanted = [(each.frame or 0, each.first, each.last) for each in standing.evidence]
        section = f"{standing.document}-{standing.section}"
        shown = show(section, standing.expected, standing.observed, wanted)
        if isinstance(shown, str):
            return tuple(replace(each, dissection=shown) for each in standing.evidence)
        return tuple(map(_build_frame, shown))


def _build_frame(shown: Any) -> Frame:
    return Frame(
        frame=shown.frame,
        time_ms=shown.time_ms,
        direction=shown.direction,
        transport=shown.transport,
        hex=shown.data[:MAX_SHOWN_OCTETS].hex(),
        octets=len(shown.data),
        dissection=shown.dissection[: MAX_DISSECTION_CHARACTERS + 1],
        first=shown.first,
        last=shown.last,
        deciding_text_ranges=shown.marked,
        capture_ms=shown.capture_ms,
    )
