"""Sort the bytes of a TCP connection, with frame and time, and find the bytes that are missing in the capture.

Spec: RFC 9293 3.4. A segment is forwarded after all bytes before it, and after all bytes that it acknowledges. So
the forwarded bytes of both directions have an order that both sides may have observed. If bytes are missing
although they were acknowledged or later bytes were captured, the missing bytes are a gap in the capture.
"""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
MAX_HELD_SEGMENTS = 64
"""The maximum number of segments of a connection that wait for missing earlier segments. If more segments wait, the
missing segments are reported as a gap.
"""
MAX_HELD_BYTES = 4 * 1024 * 1024
MAX_ACK_DISTANCE_BYTES = 256 * 1024 * 1024
"""The maximum number of bytes by which an acknowledgment number may be ahead of the bytes in the capture. If it is
further ahead, it counts as damaged.
"""
_SEQUENCE_NUMBER_COUNT = 0x1_0000_0000


class UnwrappedTcpSegment(NamedTuple):
    """A TCP segment whose sequence numbers do not wrap around. ``acknowledged`` is 0 if the segment acknowledges no
    byte.

    ``missing_byte_count``: the number of bytes at the end of the segment that are missing in the capture; ``end``
    includes these bytes.
    """

    start: int
    end: int
    acknowledged: int
    data: bytes
    flags: int
    number: int
    time_us: int
    missing_byte_count: int


class DirectionBytesReceiver:
    """The interface of an object that receives the bytes of one direction of a connection."""

    def data(self, data: bytes, number: int, time_us: int, has_push_flag: bool) -> None:
        """Handle the next bytes of the direction; ``number`` is the frame that contained these bytes."""
        raise NotImplementedError

    def note_gap(self, size: int, number: int) -> None:
        """Handle a gap in the capture, in which ``size`` bytes before a frame are missing."""
        raise NotImplementedError

    def closed(self, number: int, time_us: int, reset: bool) -> None:
        """Handle the end of this direction of the connection."""
        raise NotImplementedError


class TcpDirectionState:
    """The state of one direction of a connection after the current frame."""

    def __init__(self, receiver: DirectionBytesReceiver) -> None:
        self.receiver = receiver
        self.next: int | None = None
        """The sequence number of the next byte, or None while it is unknown."""
        self.late = False
        """Whether this direction contained bytes before the capture began."""
        self.taken = 0
        self.acknowledged = 0
        """The highest sequence number that the other side has acknowledged."""
        self.held: list[UnwrappedTcpSegment] = []
        self.closed = False

    def unwrap_sequence_number(self, number: int) -> int:
        """Return a sequence number of this direction as a number that does not wrap around. `_SEQUENCE_NUMBER_COUNT`
        (the number of possible sequence numbers) is added to the first sequence number of the direction, so that no
        result is negative.
        """
        if self.next is None:
            return number + _SEQUENCE_NUMBER_COUNT
        return self.next + (number - self.next + 0x8000_0000) % _SEQUENCE_NUMBER_COUNT - 0x8000_0000


class TcpConnectionReassembly:
    """A connection with two directions. The first direction begins at the sender of the first frame."""

    def __init__(self, client: DirectionBytesReceiver, other: DirectionBytesReceiver) -> None:
        self.ways = TcpDirectionState(client), TcpDirectionState(other)
        self._held_bytes = 0

    @property
    def closed(self) -> bool:
        """Whether both directions of the connection have ended."""
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
        """Add a segment that one side (0 or 1) has sent."""
        way, back = self.ways[side], self.ways[1 - side]
        if flags & SYN:
            self._begin_direction(way, back, sequence, acknowledged, flags)
            return
        if way.next is None:
            way.next, way.late = way.unwrap_sequence_number(sequence), True
        ack = 0
        if flags & ACK:
            if back.next is None:
                back.next = acknowledged + _SEQUENCE_NUMBER_COUNT
                back.late = way.late or way.taken > 0
            ack = back.unwrap_sequence_number(acknowledged)
            if ack - back.next > MAX_ACK_DISTANCE_BYTES:
                ack = 0
            elif ack > back.acknowledged:
                back.acknowledged = ack
        if not data and not missing and not flags & (FIN | RST):
            return
        start = way.unwrap_sequence_number(sequence)
        end = start + len(data) + missing
        segment = UnwrappedTcpSegment(start, end, ack, data, flags, number, time_us, missing)
        if not way.held and not back.held and start <= way.next and ack <= (back.next or 0):
            self._deliver_segment(way, back, segment)
            return
        insort(way.held, segment, key=_get_first_sequence_number)
        self._held_bytes += len(data)
        self._deliver_in_order()
        while len(way.held) + len(back.held) > MAX_HELD_SEGMENTS or self._held_bytes > MAX_HELD_BYTES:
            self._skip_missing_bytes()

    def end(self) -> None:
        """At the end of the capture, forward the waiting bytes, and report acknowledged bytes that are missing."""
        while self.ways[0].held or self.ways[1].held:
            self._skip_missing_bytes()
        for way in self.ways:
            if way.next is not None and way.acknowledged > way.next and not way.closed:
                way.receiver.note_gap(way.acknowledged - way.next, 0)
                way.next = way.acknowledged

    def _begin_direction(
        self, way: TcpDirectionState, back: TcpDirectionState, sequence: int, acknowledged: int, flags: int
    ) -> None:
        if way.next is None:
            way.next = sequence + 1 + _SEQUENCE_NUMBER_COUNT
        if flags & ACK and back.next is None:
            back.next = acknowledged + _SEQUENCE_NUMBER_COUNT

    def _deliver_in_order(self) -> None:
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
                    self._deliver_segment(way, back, segment)
                    moved = True

    def _skip_missing_bytes(self) -> None:
        """Report the bytes before the earliest waiting segment as missing."""
        one, other = self.ways
        way, back = min(
            ((way, back) for way, back in ((one, other), (other, one)) if way.held), key=_get_earliest_frame
        )
        first = way.held[0]
        if first.start > (way.next or 0):
            self._skip_to_sequence_number(way, first.start, first.number)
        elif back.held and back.held[0].start <= (back.next or 0):  # both directions wait, so one of them is damaged
            way.held[0] = first._replace(acknowledged=0)
        else:
            until = min(first.acknowledged, back.held[0].start) if back.held else first.acknowledged
            self._skip_to_sequence_number(back, until, first.number)
        self._deliver_in_order()

    def _skip_to_sequence_number(self, way: TcpDirectionState, until: int, number: int) -> None:
        way.receiver.note_gap(until - (way.next or 0), number)
        way.next = until

    def _deliver_segment(self, way: TcpDirectionState, back: TcpDirectionState, segment: UnwrappedTcpSegment) -> None:
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
            way.receiver.note_gap(segment.end - way.next, segment.number)
            way.next = segment.end
        if segment.flags & FIN and segment.end == way.next:
            way.next += 1
            way.closed = True
            way.receiver.closed(segment.number, segment.time_us, False)


def _get_first_sequence_number(segment: UnwrappedTcpSegment) -> int:
    return segment.start


def _get_earliest_frame(pair: tuple[TcpDirectionState, TcpDirectionState]) -> int:
    return pair[0].held[0].number
