"""Reassemble the streams in a capture, and determine the frame that contains each byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.capture.capture_error import CaptureError
from harness.capture.ip import TcpFlags, TcpSegment, UdpDatagram, parse_ip_packet
from harness.capture.pcapng import LINKTYPE_RAW, CapturedFrame, read_pcapng
from reference_qm.surface.inputs import Endpoint


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of bytes in a stream, from ``start`` to ``end`` (exclusive), that is contained in the frame
    ``frame``. ``has_push_flag`` states whether the segment has the PSH flag.
    """

    start: int
    end: int
    frame: int
    time_us: int
    has_push_flag: bool


@dataclass(slots=True)
class CapturedDirection:
    """The bytes that one side of a connection sent. ``closed_frame`` is the frame that contains this side's FIN or, if
    ``was_reset`` is true, its RST.
    """

    data: bytearray = field(default_factory=bytearray)
    byte_ranges: list[ByteRange] = field(default_factory=list)
    closed_frame: int | None = None
    was_reset: bool = False


@dataclass(slots=True)
class CapturedStream:
    """One TCP connection. ``client`` opened the connection in the frame ``frame_of_opening``, which has the comment
    ``comment``.

    ``is_sut_the_client`` states whether the recorder of the capture received the client's bytes; it is None if the
    file does not record the direction.
    """

    client: Endpoint
    server: Endpoint
    frame_of_opening: int
    comment: str | None = None
    is_sut_the_client: bool | None = None
    from_client: CapturedDirection = field(default_factory=CapturedDirection)
    from_server: CapturedDirection = field(default_factory=CapturedDirection)


@dataclass(frozen=True, slots=True)
class CapturedDatagram:
    """A UDP datagram of a capture and its position in the file."""

    source: Endpoint
    target: Endpoint
    data: bytes
    frame: int
    time_us: int
    inbound: bool | None = None


@dataclass(slots=True)
class CapturedStreamsAndDatagrams:
    """The connections and datagrams of a capture, in the order in which they begin. ``start_us`` is the time of the
    first frame.
    """

    tcp_streams: list[CapturedStream]
    udp_datagrams: list[CapturedDatagram]
    start_us: int = 0


def read_streams(path: Path) -> CapturedStreamsAndDatagrams:
    """Return the streams in a capture. Raise CaptureError if the capture is malformed, or if bytes of a stream are
    missing or out of order.
    """
    gathered = _StreamGatherer(path)
    for frame in read_pcapng(path):
        gathered.add_tcp_segment(frame)
    return gathered.found


@dataclass(slots=True)
class _SendingSideOfStream:
    """The sending side of an open connection: the stream, the direction of the sent bytes, and the sequence number
    of the next byte.
    """

    stream: CapturedStream
    direction: CapturedDirection
    expected: int


class _StreamGatherer:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.found = CapturedStreamsAndDatagrams([], [])
        self._senders: dict[tuple[Endpoint, Endpoint], _SendingSideOfStream] = {}

    def add_tcp_segment(self, frame: CapturedFrame) -> None:
        if frame.link_type != LINKTYPE_RAW:
            raise self._build_error(
                frame, f"link type {frame.link_type} is not supported; only raw IP ({LINKTYPE_RAW}) is supported"
            )
        if frame.number == 1:
            self.found.start_us = frame.time_us
        try:
            packet = parse_ip_packet(frame.data)
        except ValueError as error:
            raise self._build_error(frame, str(error)) from error
        if isinstance(packet, UdpDatagram):
            ends = packet.source, packet.target
            self.found.udp_datagrams.append(
                CapturedDatagram(*ends, packet.data, frame.number, frame.time_us, frame.inbound)
            )
        elif packet.flags & TcpFlags.SYN:
            self._begin_stream(frame, packet)
        else:
            self._add_segment(frame, packet)

    def _begin_stream(self, frame: CapturedFrame, segment: TcpSegment) -> None:
        way, back = (segment.source, segment.target), (segment.target, segment.source)
        first = segment.sequence + 1 & 0xFFFFFFFF
        if not segment.flags & TcpFlags.ACK:
            stream = CapturedStream(segment.source, segment.target, frame.number, frame.comment, frame.inbound)
            self.found.tcp_streams.append(stream)
            self._senders[way] = _SendingSideOfStream(stream, stream.from_client, first)
            self._senders.pop(back, None)
        elif back in self._senders:
            stream = self._senders[back].stream
            self._senders[way] = _SendingSideOfStream(stream, stream.from_server, first)
        else:
            raise self._build_error(frame, "the SYN before this SYN-ACK is missing; the capture began too late")

    def _add_segment(self, frame: CapturedFrame, segment: TcpSegment) -> None:
        sender = self._senders.get((segment.source, segment.target))
        if sender is None:
            raise self._build_error(frame, "the SYN of this connection is missing; the capture began too late")
        if segment.sequence != sender.expected:
            raise self._build_error(
                frame,
                f"the TCP sequence number is {segment.sequence} instead of {sender.expected}; "
                "bytes are missing or out of order",
            )
        direction = sender.direction
        if segment.data:
            if direction.closed_frame is not None:
                raise self._build_error(
                    frame, f"data follows the end of the stream, which is in frame {direction.closed_frame}"
                )
            start = len(direction.data)
            direction.data += segment.data
            has_push_flag = bool(segment.flags & TcpFlags.PSH)
            direction.byte_ranges.append(
                ByteRange(start, len(direction.data), frame.number, frame.time_us, has_push_flag)
            )
        ends = segment.flags & (TcpFlags.FIN | TcpFlags.RST)
        if ends:
            direction.closed_frame = frame.number
            direction.was_reset = bool(segment.flags & TcpFlags.RST)
        sender.expected = segment.sequence + len(segment.data) + bool(ends) & 0xFFFFFFFF

    def _build_error(self, frame: CapturedFrame, message: str) -> CaptureError:
        return CaptureError(self.path, frame.file_offset, f"frame {frame.number}: {message}")
