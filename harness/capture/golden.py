"""Read the eight example packets that MS-MQQB section 4.1 prints. The packets are read from hex dumps and a manifest,
and are written to one capture.

``python -m harness.capture.golden`` replaces captures/golden/frames.pcapng.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from harness.capture.writer import CaptureWriter
from harness.errors import HarnessError
from harness.paths import SAMPLE_CAPTURES_FOLDER
from reference_qm.surface.inputs import Endpoint

GOLDEN_FOLDER = SAMPLE_CAPTURES_FOLDER / "golden"
GOLDEN_MANIFEST_NAME = "manifest.toml"

FieldValue = int | str | bytes | UUID


@dataclass(frozen=True, slots=True)
class FieldDisagreement:
    """A field for which the text of MS-MQQB contradicts the printed bytes. ``text`` is the value in the text."""

    field: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class GoldenFrame:
    """A packet of MS-MQQB section 4.1, with the printed value of each field. The keys of the values are
    ``Header.Field``.

    ``printed_size`` is the number of bytes that the document prints. The other bytes of ``data`` are reconstructed.
    """

    number: int
    section: str
    title: str
    from_client: bool
    transport: Literal["tcp", "udp"]
    client: Endpoint
    server: Endpoint
    packet: str
    data: bytes
    printed_size: int
    fields: dict[str, FieldValue]
    disagreements: tuple[FieldDisagreement, ...]


@dataclass(frozen=True, slots=True)
class GoldenCapture:
    """All packets of MS-MQQB section 4.1, and their times in the capture (int microseconds). The times are
    invented.
    """

    capture: str
    start_us: int
    frame_interval_us: int
    frames: tuple[GoldenFrame, ...]


def load_golden_capture(folder: Path = GOLDEN_FOLDER) -> GoldenCapture:
    """Read the manifest and the hex dumps. If the manifest contradicts a hex dump, raise HarnessError with a
    description of the contradiction.
    """
    tree = tomllib.loads((folder / GOLDEN_MANIFEST_NAME).read_text(encoding="utf-8"))
    return GoldenCapture(
        tree["capture"],
        tree["start_us"],
        tree["step_us"],
        tuple(_read_golden_frame(folder, tree, each) for each in tree["frame"]),
    )


def _read_golden_frame(folder: Path, tree: dict[str, Any], entry: dict[str, Any]) -> GoldenFrame:
    dump = bytes.fromhex((folder / f"frame{entry['number']}.hex").read_text(encoding="ascii"))
    data = dump + b"".join(bytes.fromhex(each["hex"]) * each["times"] for each in entry.get("tail", ()))
    if len(data) != entry["size"]:
        raise HarnessError(
            f"{folder / GOLDEN_MANIFEST_NAME}: frame {entry['number']} has {len(data)} bytes; "
            f"its size in the manifest is {entry['size']}"
        )
    return GoldenFrame(
        number=entry["number"],
        section=entry["section"],
        title=entry["title"],
        from_client=entry["direction"] == "client->server",
        transport=entry["transport"],
        client=Endpoint(tree["client"], entry["client_port"]),
        server=Endpoint(tree["server"], entry["server_port"]),
        packet=entry["packet"],
        data=data,
        printed_size=len(dump),
        fields={name: _parse_value(value) for name, value in entry["fields"].items()},
        disagreements=tuple(FieldDisagreement(**each) for each in entry.get("disagreements", ())),
    )


def _parse_value(written: int | str) -> FieldValue:
    if isinstance(written, str):
        kind, _, rest = written.partition(":")
        if kind == "guid":
            return UUID(rest)
        if kind == "hex":
            return bytes.fromhex(rest)
    return written


def write_golden_capture(golden: GoldenCapture, path: Path) -> None:
    """Write the frames as one capture: pings as UDP datagrams, and all other frames on one TCP connection."""
    opened = False
    with CaptureWriter(path, golden.start_us) as writer:
        for step, frame in enumerate(golden.frames):
            time_us = step * golden.frame_interval_us
            comment = f"{frame.section} {frame.title}"
            if frame.transport == "udp":
                source, target = (frame.client, frame.server) if frame.from_client else (frame.server, frame.client)
                writer.write_udp(source, target, frame.data, time_us=time_us, comment=comment)
                continue
            if not opened:
                writer.write_tcp_open(1, frame.client, frame.server, time_us=time_us)
                opened = True
            writer.write_tcp_data(1, frame.from_client, frame.data, time_us=time_us, comment=comment)


if __name__ == "__main__":
    frames = load_golden_capture()
    write_golden_capture(frames, GOLDEN_FOLDER / frames.capture)
