"""Judge captures of runs and of other tools, and return the verdicts as lines for a lake (a database of runs)
(`mqconform lake judge`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.capture.pcapng import build_file_header
from harness.errors import MqconformError
from harness.foreign.check import check_capture
from harness.foreign.systems import MAX_NAMED_SYSTEMS, RequestedSystem
from harness.judging import captured
from harness.judging.captured import CaptureWithoutPacketDirections
from harness.rules.catalogue import load_catalogue
from reference_qm.releases.names import NO_RELEASE


class NothingJudged(MqconformError):
    """The error when a capture contains no packet of the requested system that can be judged."""


def lines_of_capture(
    path: Path, name: str, profile: str = NO_RELEASE, sut: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    """Return the time of the end of a capture (int microseconds since 1970 UTC), and its verdicts as lines of
    schema 2.

    ``sut``: the address of the system. It may be omitted for a capture of a run, and if only one system has sent
    packets. The caller must add ``test``, ``seq`` and ``ms`` to the lines. Raise MqconformError if the capture cannot
    be judged.
    """
    if not sut and _is_capture_of_run(path):
        return captured.lines_of_capture(path, name, profile)
    checked = check_capture(path, load_catalogue(), RequestedSystem.parse(sut) if sut else None, profile or NO_RELEASE)
    systems = [system for system in checked.traffic.systems.system_by_name.values() if system.kinds]
    if not systems:
        raise NothingJudged(f"{path}: {checked.traffic.systems.describe_unjudged_capture()}")
    if len(systems) > 1:
        names = ", ".join(system.name for system in systems[:MAX_NAMED_SYSTEMS])
        raise CaptureWithoutPacketDirections(f"{path} contains several systems; give --sut with one of {names}")
    lines = [entry.to_json(0, 0) | {"capture": name} for entry in systems[0].remove_and_return_verdicts()]
    kept = [{key: value for key, value in line.items() if key not in ("test", "seq", "ms")} for line in lines]
    return checked.traffic.end_us, kept


def _is_capture_of_run(path: Path) -> bool:
    begins = build_file_header()
    with path.open("rb") as file:
        return file.read(len(begins)) == begins
