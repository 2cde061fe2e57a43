"""Show the packets of a verdict as text. The text contains the dissection and a hex dump, and marks the deciding
field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.capture.deciding import VerdictTexts
from harness.capture.packets import CapturedPackets, PacketForReaders, PacketNamedByVerdict
from harness.errors import MqconformError
from harness.judging.verdicts import Verdict
from harness.run_folder import CAPTURES_FOLDER

MAX_HEX_DUMP_BYTES = 4096
"""int bytes: the maximum number of bytes of a packet that are shown. The capture contains the complete packet."""
_OCTETS_PER_ROW = 16


def format_frame_numbers(line: Mapping[str, Any]) -> str:
    """Return a text with the numbers of the frames that a verdict names, such as ``frame 8`` or ``frames 8, 9``, or
    an empty string if the verdict names no frame.
    """
    frames = [str(one["frame"]) for one in line["evidence"]]
    return f"frame{'s' if len(frames) > 1 else ''} {', '.join(frames)}" if frames else ""


class EvidenceTexts:
    """The packets of verdicts in a run folder, in the form of texts. Each capture is read only once if the verdicts
    are requested in the order of the captures.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: CapturedPackets | None = None

    def of(self, line: Mapping[str, Any]) -> Iterator[str]:
        """Yield a text for each packet that a verdict names; for a pass, only for the deciding packet. If the
        packets cannot be shown, yield the reason. ``line`` is a verdict from ``read_verdicts``.
        """
        evidence = line["evidence"]
        if line["verdict"] == Verdict.PASS:
            evidence = [one for one in evidence if one["first"] is not None][:1] or evidence[-1:]
        quoted = [one for one in evidence if one.get("hex")]
        if quoted:
            yield from map(_format_quoted_packet, quoted)
            return
        try:
            wanted = [PacketNamedByVerdict(one["frame"], one["first"], one["last"]) for one in evidence]
            says = VerdictTexts(f"{line['document']}-{line['section']}", line["expected"], line["observed"])
            shown = self._read_capture(str(line["capture"])).show(wanted, says) if wanted else []
        except (MqconformError, OSError) as error:
            yield f"the packets of this verdict cannot be shown: {error}"
            return
        yield from map(_format_packet, shown)

    def _read_capture(self, name: str) -> CapturedPackets:
        path = self.folder / name
        if self._read is None or self._read.path != path:
            if path.resolve().parent != (self.folder / CAPTURES_FOLDER).resolve():
                raise MqconformError(f"{name!r} is not a file of {self.folder / CAPTURES_FOLDER}")
            self._read = CapturedPackets(path)
        return self._read


def _format_packet(shown: PacketForReaders) -> str:
    head = f"frame {shown.frame}, {shown.direction or 'of unknown direction'}, {shown.time_ms} ms, {shown.transport}"
    if shown.first is not None:
        head += f", bytes {shown.first:#x} to {shown.last:#x} decide the verdict"
    marks, at, lines = dict(shown.marked), 0, []
    for line in shown.dissection.splitlines(keepends=True):
        mark = "> " if any(at <= start < at + len(line) for start in marks) else "  " if marks else ""
        lines.append(f"{mark}{line}")
        at += len(line)
    return f"{head}\n\n{''.join(lines)}\n\n{_format_octets(shown.data)}\n"


def _format_quoted_packet(packet: Mapping[str, Any]) -> str:
    """Return the text of a packet that is quoted in a verdict of schema 1."""
    head = f"frame {packet['frame']}, {packet['direction']}, {packet['time_ms']} ms, {packet['transport']}"
    return f"{head}\n\n{packet['dissection']}\n\n{_format_octets(bytes.fromhex(packet['hex']))}\n"


def _format_octets(data: bytes) -> str:
    rows = [
        f"{start:06x}  {data[start : start + _OCTETS_PER_ROW].hex(' '):<{3 * _OCTETS_PER_ROW}} "
        + "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in data[start : start + _OCTETS_PER_ROW])
        for start in range(0, min(len(data), MAX_HEX_DUMP_BYTES), _OCTETS_PER_ROW)
    ]
    return "\n".join(
        [*rows, *([f"... {len(data) - MAX_HEX_DUMP_BYTES} more bytes"] if len(data) > MAX_HEX_DUMP_BYTES else [])]
    )
