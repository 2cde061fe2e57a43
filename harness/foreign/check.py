"""Judge every system in a capture of another tool with every passive predicate."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.foreign.conversations import SESSION_PORT
from harness.foreign.files import read_frames
from harness.foreign.systems import RequestedSystem, SystemsOfCapture
from harness.foreign.traffic import TrafficOfCapture
from harness.judging.passive import load_predicates
from harness.rules.catalogue import Catalogue
from reference_qm.releases.names import NO_RELEASE


@dataclass(slots=True)
class CheckedCapture:
    """A capture, with the verdicts for its systems. ``damage_descriptions``: a description of the damage to the file,
    if any.
    """

    path: Path
    traffic: TrafficOfCapture
    damage_descriptions: list[str] = field(default_factory=list)


def check_capture(
    path: Path,
    catalogue: Catalogue,
    wanted: RequestedSystem | None = None,
    profile: str = NO_RELEASE,
    ports: frozenset[int] = frozenset(),
    *,
    checksums: bool = False,
) -> CheckedCapture:
    """Judge a capture of any supported format.

    ``ports``: additional TCP ports of queue managers. ``checksums``: whether packets with a wrong checksum are
    skipped. Raise UsageError for a file in an unsupported format, and CaptureError for a file without a readable
    frame.
    """
    load_predicates()
    traffic = TrafficOfCapture(
        SystemsOfCapture(catalogue, path.name, profile, wanted), ports | {SESSION_PORT}, checksums
    )
    checked = CheckedCapture(path, traffic)
    for record in read_frames(path, checked.damage_descriptions.append):
        traffic.take(record)
    traffic.end()
    return checked
