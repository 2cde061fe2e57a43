"""Add comments with verdicts to the frames of a complete capture, so that Wireshark shows the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.capture.pcapng import (
    CapturedNote,
    build_block_of_note_data,
    build_file_header,
    build_packet_block,
    read_packets_and_notes,
)
from harness.errors import FolderError


def add_frame_comments(path: Path, comments: Mapping[int, str]) -> None:
    """Add comments to frames, given by frame number. Existing comments remain unchanged. If this fails, the file
    remains as it was.

    The harness itself must have written the capture, because blocks that the harness never writes would be lost.
    Raise CaptureError or FolderError.
    """
    new = path.with_name(f"{path.name}.new")
    changed = False
    try:
        with new.open("wb") as out:
            out.write(build_file_header())
            for frame in read_packets_and_notes(path):
                if isinstance(frame, CapturedNote):
                    out.write(build_block_of_note_data(frame.data))
                    continue
                comment = frame.comment if frame.comment is not None else comments.get(frame.number)
                changed |= comment != frame.comment
                out.write(build_packet_block(frame.time_us, frame.data, comment, frame.inbound))
        if changed:
            new.replace(path)
    except OSError as error:
        raise FolderError.from_os_error(path, error) from error
    finally:
        new.unlink(missing_ok=True)
