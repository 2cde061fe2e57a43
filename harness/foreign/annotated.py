"""Write a copy of a capture for Wireshark, in which each frame that a verdict names has a comment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.capture.pcapng import build_interface_block, build_packet_block, build_section_block
from harness.foreign.files import read_frames
from harness.foreign.findings import SystemFinding
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES
from harness.printable import one_line

LONGEST_COMMENT_CHARACTERS = 500


def write_annotated_capture(source: Path, target: Path, systems: Iterable[SystemFinding]) -> None:
    """Write an annotated copy of a capture as pcapng. The copy has the same frames, with the same numbers, times,
    link types and sizes.

    Existing comments of frames remain. If the file is damaged, data after the last readable frame is omitted.
    """
    comments = _collect_comments_by_frame(systems)
    interfaces: dict[int, int] = {}
    with target.open("wb") as file:
        file.write(build_section_block())
        for number, record in enumerate(read_frames(source, lambda _: None), 1):
            if record.link_type not in interfaces:
                interfaces[record.link_type] = len(interfaces)
                file.write(build_interface_block(record.link_type, f"link type {record.link_type}"))
            said = [record.comment] if record.comment else []
            comment = "\n".join(said + comments.get(number, [])) or None
            file.write(
                build_packet_block(
                    record.time_us,
                    record.data,
                    comment,
                    record.inbound,
                    interface=interfaces[record.link_type],
                    size=record.size,
                )
            )


def _collect_comments_by_frame(systems: Iterable[SystemFinding]) -> dict[int, list[str]]:
    made: dict[int, list[str]] = {}
    for system in systems:
        for rule in system.of(*VERDICTS_OF_BROKEN_RULES):
            for packet in rule.packets:
                text = f"{rule.verdict} {rule.rule} ({system.name}): {rule.says} Observed: {packet.observed}"
                made.setdefault(packet.frame, []).append(one_line(text, LONGEST_COMMENT_CHARACTERS))
    return made
