"""The last packets of a test in memory; earlier ones are read back from the capture file."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.errors import HarnessError

WINDOW_BYTES = 128 * 1024 * 1024
FRAME_COST = 4 * 1024
"""int bytes that a packet costs at least, however short it is: its notes stay in memory."""
LAYERS = 8
"""A packet with all that is made of it takes about so many times its bytes, and LAYERS_COST."""
LAYERS_COST = 8 * 1024


class Place(NamedTuple):
    """Bytes of a packet in the capture file: int offset and size."""

    offset: int
    size: int


class Piece(NamedTuple):
    """Bytes of a stream: the frame of the capture that holds them, and where that is in the file."""

    number: int
    place: Place


def take_bytes(pieces: deque[Piece], size: int) -> tuple[int, list[Place]]:
    """Take the first ``size`` bytes off those of a stream; return the frame in which they begin, and their places."""
    number, places = pieces[0].number, list[Place]()
    while pieces and size:
        frame, place = pieces.popleft()
        if place.size > size:
            pieces.appendleft(Piece(frame, Place(place.offset + size, place.size - size)))
            place = Place(place.offset, size)
        places.append(place)
        size -= place.size
    return number, places


class Held(Protocol):
    """A packet as the window sees it."""

    size: int
    places: list[Place]
    window: Window | None

    def forget(self) -> None:
        """Leave the bytes to the capture file."""


class Window:
    """A window on the frames of a capture file; without a file everything stays in memory."""

    def __init__(self, path: Path | None, limit: int = WINDOW_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._held: deque[Held] = deque()
        self._cost = 0

    def take(self, frame: Held, places: list[Place]) -> None:
        """Hold a new frame, which lies at ``places`` of the file; forget the oldest ones instead."""
        if self._path is None:
            return
        frame.window, frame.places = self, places
        self._hold(frame)

    def read(self, frame: Held) -> bytes:
        """Read the bytes of a frame that was forgotten, and hold it again."""
        assert self._path is not None
        parts = []
        try:
            with self._path.open("rb") as file:
                for place in frame.places:
                    file.seek(place.offset)
                    parts.append(file.read(place.size))
        except OSError as error:
            raise HarnessError(f"{self._path}: cannot read a packet back: {error.strerror}") from error
        data = b"".join(parts)
        if len(data) != frame.size:
            raise HarnessError(f"{self._path}: a packet of {frame.size} bytes is missing: {len(data)} are left")
        self._hold(frame)
        return data

    def _hold(self, frame: Held) -> None:
        self._held.append(frame)
        self._cost += _cost(frame)
        while self._cost > self._limit and len(self._held) > 1:
            oldest = self._held.popleft()
            self._cost -= _cost(oldest)
            if oldest is not frame:
                oldest.forget()


def _cost(frame: Held) -> int:
    return LAYERS * frame.size + LAYERS_COST
