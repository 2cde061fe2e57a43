"""Define the error for a capture file that cannot be read."""

from __future__ import annotations

from pathlib import Path

from harness.errors import MqconformError


class CaptureError(MqconformError):
    """The error when a capture file is truncated, malformed, or in an unsupported format.

    ``offset`` is the distance from the start of the file to the block with the error (int bytes).
    """

    def __init__(self, file: Path, offset: int, message: str) -> None:
        super().__init__(f"{file}: at byte {offset}: {message}")
        self.file = file
        self.offset = offset
        self.message = message
