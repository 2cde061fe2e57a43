"""Puts the bytes of a TCP connection in order, with frame and time, and finds the bytes that the capture lacks.

Spec: RFC 9293 3.4. A segment is passed on when all bytes before it, and all bytes that it acknowledges, are there. So
both directions come in an order that both ends may have seen. Bytes that never come, although they were acknowledged or
later bytes came, are a gap in the capture.
"""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
MOST_HELD = 64
"""The number of segments of a connection that may wait for earlier ones before these count as missing."""
MOST_BYTES = 4 * 1024 * 1024
FARTHEST = 256 * 1024 * 1024
"""The number of bytes that an acknowledgment can be ahead; one that is further ahead is damaged."""
_WRAP = 0x1_0000_0000


class Segment(NamedTuple):
    """A segment with numbers that do not wrap; ``acknowledged`` is 0 if it acknowledges nothing.

    ``end`` includes ``missing``, the number of bytes at its end that the capture lacks.
    """

    start: int
    end: int
    acknowledged: int
    data: bytes
    flags: int
    number: int
    time_us: int
    missing: int


class Receiver:
    """A receiver of the bytes of one direction."""

    def data(self, data: bytes, number: int, time_us: int, pushed: bool) -> None:
        """Take the next bytes, with their frame."""
        raise NotImplementedError

    def hole(self, size: int, number: int) -> None:
        """Note that ``size`` bytes before a frame are missing in the capture."""
        raise NotImplementedError

    def closed(self, number: int, time_us: int, reset: bool) -> None:
        """Note the end of this direction."""
        raise NotImplementedError


class Way:
    """One direction of a connection, up to the present frame."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.next: int | None = None
        """The number of the next byte; None while it is unknown."""
        self.late = False
        """Whether bytes had been sent before the capture began."""
        self.taken = 0
        self.acknowledged = 0
        """The highest number that the other side has acknowledged."""
        self.held: list[Segment] = []
        self.closed = False

    def unwrap(self, number: int) -> int:
        """Return a number of this direction as one that does not wrap; the first ones lie above `_WRAP`."""
        if self.next is None:
            return number + _WRAP
        return self.next + (number - self.next + 0x8000_0000) % _WRAP - 0x8000_0000


class Reassembly:
    """A connection with two directions; the first is that of the sender of the first frame."""

    def __init__(self, one: Receiver, other: Receiver) -> None:
        self.ways = Way(one), Way(other)
        self._held_bytes = 0

    @property
    def closed(self) -> bool:
        """Return whether both directions have ended."""
        return self.ways[0].closed and self.ways[1].closed

    def add(
        self,
        side: int,
        sequence: int,
        acknowledged: int,
        flags: int,
        data: bytes,
        missing: int,
        number: int,
        time_us: int,
    ) -> None:
        """Take a segment that one side (0 or 1) has sent."""
        way, back = self.ways[side], self.ways[1 - side]
        if flags & SYN:
            self._open(way, back, sequence, acknowledged, flags)
            return
        if way.next is None:
            way.next, way.late = way.unwrap(sequence), True
        ack = 0
        if flags & ACK:
            if back.next is None:
                back.next = acknowledged + _WRAP
                back.late = way.late or way.taken > 0
            ack = back.unwrap(acknowledged)
            if ack - back.next > FARTHEST:
                ack = 0
            elif ack > back.acknowledged:
                back.acknowledged = ack
        if not data and not missing and not flags & (FIN | RST):
            return
        start = way.unwrap(sequence)
        end = start + len(data) + missing
        segment = Segment(start, end, ack, data, flags, number, time_us, missing)
        if not way.held and not back.held and start <= way.next and ack <= (back.next or 0):
            self._deliver(way, back, segment)
            return
        insort(way.held, segment, key=_start)
        self._held_bytes += len(data)
        self._settle()
        while len(way.held) + len(back.held) > MOST_HELD or self._held_bytes > MOST_BYTES:
            self._skip_missing_bytes()

    def end(self) -> None:
        """Pass on the held bytes at the end of the capture, and report those that were acknowledged and never came."""
        while self.ways[0].held or self.ways[1].held:
            self._skip_missing_bytes()
        for way in self.ways:
            if way.next is not None and way.acknowledged > way.next and not way.closed:
                way.receiver.hole(way.acknowledged - way.next, 0)
                way.next = way.acknowledged

    def _open(self, way: Way, back: Way, sequence: int, acknowledged: int, flags: int) -> None:
        if way.next is None:
            way.next = sequence + 1 + _WRAP
        if flags & ACK and back.next is None:
            back.next = acknowledged + _WRAP

    def _settle(self) -> None:
        one, other = self.ways
        moved = True
        while moved:
            moved = False
            for way, back in ((one, other), (other, one)):
                while (
                    way.held and way.held[0].start <= (way.next or 0) and way.held[0].acknowledged <= (back.next or 0)
                ):
                    segment = way.held.pop(0)
                    self._held_bytes -= len(segment.data)
                    self._deliver(way, back, segment)
                    moved = True

    def _skip_missing_bytes(self) -> None:
        """Give up the bytes that the earliest segment waits for."""
        one, other = self.ways
        way, back = min(((way, back) for way, back in ((one, other), (other, one)) if way.held), key=_earliest)
        first = way.held[0]
        if first.start > (way.next or 0):
            self._skip(way, first.start, first.number)
        elif back.held and back.held[0].start <= (back.next or 0):  # each waits for the other: one of them is damaged
            way.held[0] = first._replace(acknowledged=0)
        else:
            until = min(first.acknowledged, back.held[0].start) if back.held else first.acknowledged
            self._skip(back, until, first.number)
        self._settle()

    def _skip(self, way: Way, until: int, number: int) -> None:
        way.receiver.hole(until - (way.next or 0), number)
        way.next = until

    def _deliver(self, way: Way, back: Way, segment: Segment) -> None:
        if way.closed or way.next is None:
            return
        if segment.flags & RST:
            way.closed = back.closed = True
            way.receiver.closed(segment.number, segment.time_us, True)
            return
        skip = way.next - segment.start
        if skip < 0 or segment.end < way.next:
            return
        if data := segment.data[skip:]:
            way.taken += len(data)
            way.next += len(data)
            way.receiver.data(data, segment.number, segment.time_us, bool(segment.flags & PSH))
        if segment.end > way.next:
            way.receiver.hole(segment.end - way.next, segment.number)
            way.next = segment.end
        if segment.flags & FIN and segment.end == way.next:
            way.next += 1
            way.closed = True
            way.receiver.closed(segment.number, segment.time_us, False)


def _start(segment: Segment) -> int:
    return segment.start


def _earliest(pair: tuple[Way, Way]) -> int:
    return pair[0].held[0].number
