"""Keep the latest packets of a test in memory, and read earlier packets from the capture file when they are needed."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.errors import HarnessError

MAX_WINDOW_MEMORY_BYTES = 128 * 1024 * 1024
MEMORY_BYTES_PER_FRAME = 4 * 1024
"""int bytes: the minimum size that is counted for a packet. A smaller packet also counts as this size, because some
data about each packet always stay in memory.
"""
DISSECTION_MEMORY_PER_PACKET_BYTE = 8
"""The estimated memory of a packet with its dissection, as a multiple of the packet's size.
DISSECTION_MEMORY_BYTES_PER_FRAME is added to the product.
"""
DISSECTION_MEMORY_BYTES_PER_FRAME = 8 * 1024


class CapturePosition(NamedTuple):
    """The position of bytes of a packet in the capture file: their offset and their number (int bytes)."""

    offset: int
    size: int


class StreamPiece(NamedTuple):
    """A piece of a stream: the number of the frame that contains it, and its position in the capture file."""

    number: int
    capture_position: CapturePosition


def remove_first_bytes_from_stream_pieces(pieces: deque[StreamPiece], size: int) -> tuple[int, list[CapturePosition]]:
    """Remove the first ``size`` bytes from the pieces of a stream. Return the frame in which these bytes begin, and
    the positions of these bytes in the capture file.
    """
    number, places = pieces[0].number, list[CapturePosition]()
    while pieces and size:
        frame, place = pieces.popleft()
        if place.size > size:
            pieces.appendleft(StreamPiece(frame, CapturePosition(place.offset + size, place.size - size)))
            place = CapturePosition(place.offset, size)
        places.append(place)
        size -= place.size
    return number, places


class StoredPacket(Protocol):
    """The interface of the packets that a `WindowOfLatestFrames` stores."""

    size: int
    capture_positions: list[CapturePosition]
    window: WindowOfLatestFrames | None

    def forget_bytes_and_dissection(self) -> None:
        """Remove the bytes from memory; the capture file still contains the packet."""


class WindowOfLatestFrames:
    """The latest frames of a capture file. If there is no file, all frames stay in memory."""

    def __init__(self, path: Path | None, limit: int = MAX_WINDOW_MEMORY_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._frames_in_memory: deque[StoredPacket] = deque()
        self._memory_bytes = 0

    def take(self, frame: StoredPacket, places: list[CapturePosition]) -> None:
        """Store a new frame in memory. ``places`` contains its positions in the file. If the frames need more
        memory than the limit, remove the oldest.
        """
        if self._path is None:
            return
        frame.window, frame.capture_positions = self, places
        self._hold_in_memory(frame)

    def read(self, frame: StoredPacket) -> bytes:
        """Read the bytes of a frame from the file, and store the frame in memory again."""
        assert self._path is not None
        parts = []
        try:
            with self._path.open("rb") as file:
                for place in frame.capture_positions:
                    file.seek(place.offset)
                    parts.append(file.read(place.size))
        except OSError as error:
            raise HarnessError(f"{self._path}: cannot read a packet back: {error.strerror}") from error
        data = b"".join(parts)
        if len(data) != frame.size:
            raise HarnessError(f"{self._path} contains only {len(data)} of the {frame.size} bytes of a packet")
        self._hold_in_memory(frame)
        return data

    def _hold_in_memory(self, frame: StoredPacket) -> None:
        self._frames_in_memory.append(frame)
        self._memory_bytes += _estimate_memory_cost(frame)
        while self._memory_bytes > self._limit and len(self._frames_in_memory) > 1:
            oldest = self._frames_in_memory.popleft()
            self._memory_bytes -= _estimate_memory_cost(oldest)
            if oldest is not frame:
                oldest.forget_bytes_and_dissection()


def _estimate_memory_cost(frame: StoredPacket) -> int:
    return DISSECTION_MEMORY_PER_PACKET_BYTE * frame.size + DISSECTION_MEMORY_BYTES_PER_FRAME
