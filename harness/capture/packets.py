"""Read the packets of a capture as the recorder recorded them. The packets are reassembled and dissected, and each
is identified by the frame in which it begins.

Verdicts identify packets by frame and bytes. This module uses only the capture to create readable text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.capture.deciding import DissectionLines, VerdictTexts, find_deciding_fields
from harness.capture.recorder import (
    COMMENT_ON_OPENED_RPC_CONNECTION,
    FROM_SUT_DIRECTION,
    RPC_TRANSPORT_NAME,
    TO_SUT_DIRECTION,
)
from harness.capture.streams import ByteRange, CapturedDatagram, CapturedDirection, CapturedStream, read_streams
from harness.errors import MqconformError
from harness.wire import TreeLine, WireError, dissect, dissect_ping, has_bytes_when_rebuilt, list_dissection_lines
from reference_qm.surface.inputs import Endpoint


class PacketNamedByVerdict(NamedTuple):
    """A packet that a verdict names: the frame in which the packet begins, and the first and the last deciding byte
    (both inclusive).
    """

    frame_number: int
    first_byte_offset: int | None = None
    last_byte_offset: int | None = None


@dataclass(frozen=True, slots=True)
class PacketForReaders:
    """A packet in a form for readers. ``time_us`` is in int microseconds since 1970 UTC; ``time_ms`` is the time
    since the first frame of the capture. ``direction`` is ``sut->peer``, ``peer->sut``, or empty if the capture
    does not record the direction. ``transport`` is tcp, udp or rpc. ``dissection`` is a text of several lines.
    ``first`` and ``last`` are the first and the last deciding byte of ``data``, inclusive; they are None if all
    bytes decide or none does. ``marked`` contains the ranges of characters of the dissection that show these bytes;
    each range has an exclusive end. ``capture_ms`` is the time from the first to the last packet of the capture.
    """

    frame: int
    time_us: int
    time_ms: int
    direction: str
    transport: str
    source: Endpoint
    target: Endpoint
    data: bytes
    dissection: str
    first: int | None
    last: int | None
    marked: tuple[tuple[int, int], ...]
    capture_ms: int


@dataclass(slots=True)
class CapturedPacket:
    """A packet of a capture before its dissection. ``stub`` is the stub of a PDU as a scapy packet, if it is known.

    ``is_from_sut`` states whether the SUT sent the packet; it is None if the capture does not record the direction.
    """

    frame: int
    time_us: int
    is_from_sut: bool | None
    transport: str
    source: Endpoint
    target: Endpoint
    data: bytes
    stub: Any = None

    @property
    def direction(self) -> str:
        """The direction of the packet: ``sut->peer``, ``peer->sut``, or empty if the capture does not record the
        direction.
        """
        return {True: FROM_SUT_DIRECTION, False: TO_SUT_DIRECTION, None: ""}[self.is_from_sut]


class PacketMissingInCapture(MqconformError):
    """The error when the capture does not contain the packet that a verdict names."""


class CapturedPackets:
    """The packets of one capture file. The file is read only once. CaptureError is raised if it cannot be read.

    ``packets`` are in the order of their frames. If several malformed packets begin in one frame, the frame number
    identifies the first of them.
    """

    def __init__(self, path: Path) -> None:
        found = read_streams(path)
        self.path = path
        self.start_us = found.start_us
        self._packets_of_rpc_connection_by_frame: dict[int, list[CapturedPacket]] = {}
        """All packets of a DCE/RPC connection, by the frame of each of these packets. The entries of a connection are
        removed when the connection has been dissected.
        """
        packets = [_read_datagram_packets(each) for each in found.udp_datagrams]
        for stream in found.tcp_streams:
            both = sorted(_read_stream_packets(stream), key=_get_frame_number)
            packets += both
            if stream.comment == COMMENT_ON_OPENED_RPC_CONNECTION:
                self._packets_of_rpc_connection_by_frame |= dict.fromkeys(map(_get_frame_number, both), both)
        self.packets = sorted(packets, key=_get_frame_number)

    def show(self, wanted: Iterable[PacketNamedByVerdict], says: VerdictTexts | None = None) -> list[PacketForReaders]:
        """Return the packets of a verdict with their dissection. Raise PacketMissingInCapture if no packet begins in a
        requested frame.

        ``says`` contains the texts of the verdict, which determine the deciding field even if the verdict has a range
        of bytes.
        """
        asked = [(one, self._find_packet(one.frame_number)) for one in wanted]
        made = [_dissect_captured_packet(packet) for _, packet in asked]
        fields: list[TreeLine | None] = [None] * len(made)
        if says is not None:
            sent = [packet.is_from_sut is not False for _, packet in asked]
            fields = find_deciding_fields(
                [one.dissection_lines if by_sut else DissectionLines() for one, by_sut in zip(made, sent, strict=True)],
                says,
            )
        return [
            self._build_shown_packet(*one, *how) for one, how in zip(asked, zip(made, fields, strict=True), strict=True)
        ]

    def _find_packet(self, frame: int) -> CapturedPacket:
        at = bisect_left(self.packets, frame, key=_get_frame_number)
        if at == len(self.packets) or self.packets[at].frame != frame:
            raise PacketMissingInCapture(
                f"{self.path}: no packet begins in frame {frame}; check that this file is the capture of the run"
            )
        if frame in self._packets_of_rpc_connection_by_frame:
            from harness.capture.rpc_stubs import read_stubs  # the import takes a second

            pdus = self._packets_of_rpc_connection_by_frame[frame]
            read_stubs(pdus)
            for pdu in pdus:
                self._packets_of_rpc_connection_by_frame.pop(pdu.frame, None)
        return self.packets[at]

    def _build_shown_packet(
        self, wanted: PacketNamedByVerdict, packet: CapturedPacket, made: _PacketDissection, field: TreeLine | None
    ) -> PacketForReaders:
        first, last = wanted.first_byte_offset, wanted.last_byte_offset
        if first is None or last is None or not 0 <= first <= last < len(packet.data):
            first, last = (field.start, field.end - 1) if field else (None, None)
        if field is not None and (first, last) != (field.start, field.end - 1):
            field = None
        if field is None and first is not None and last is not None:
            field = next((line for line in made.dissection_lines if (line.start, line.end) == (first, last + 1)), None)
        return PacketForReaders(
            packet.frame,
            packet.time_us,
            (packet.time_us - self.start_us) // 1000,
            packet.direction,
            packet.transport,
            packet.source,
            packet.target,
            packet.data,
            made.text,
            first,
            last,
            made.mark_field(field) if field else (),
            (max(each.time_us for each in self.packets) - self.start_us) // 1000,
        )


def _get_frame_number(packet: CapturedPacket) -> int:
    return packet.frame


def _read_datagram_packets(datagram: CapturedDatagram) -> CapturedPacket:
    return CapturedPacket(
        datagram.frame, datagram.time_us, datagram.inbound, "udp", datagram.source, datagram.target, datagram.data
    )


def _read_stream_packets(stream: CapturedStream) -> Iterator[CapturedPacket]:
    """Yield the packets of a connection, first those from the client, then those from the server. A packet ends
    with a segment that has the PSH flag, or at the end of the stream.
    """
    transport = RPC_TRANSPORT_NAME if stream.comment == COMMENT_ON_OPENED_RPC_CONNECTION else "tcp"
    ways = ((stream.from_client, stream.client, stream.server), (stream.from_server, stream.server, stream.client))
    for way, source, target in ways:
        inbound = stream.is_sut_the_client
        if inbound is not None and way is stream.from_server:
            inbound = not inbound
        for first, end in _list_packet_spans(way):
            data = bytes(way.data[first.start : end])
            yield CapturedPacket(first.frame, first.time_us, inbound, transport, source, target, data)


def _list_packet_spans(way: CapturedDirection) -> Iterator[tuple[ByteRange, int]]:
    """Yield, for each packet of one direction, its first segment and the offset of its end in the stream."""
    first: ByteRange | None = None
    for each in way.byte_ranges:
        first = first or each
        if each.has_push_flag or each is way.byte_ranges[-1]:
            yield first, each.end
            first = None


@dataclass(frozen=True, slots=True)
class _PacketDissection:
    text: str
    dissection_lines: DissectionLines
    """The fields that the text shows, with the bytes of each field. There are none if the bytes are uncertain."""

    def mark_field(self, field: TreeLine) -> tuple[tuple[int, int], ...]:
        """Return the ranges of characters in the text that show a field: for each of its lines, the range from the
        name to the end of the line.
        """
        found, at = [], 0
        for line in self.dissection_lines:
            if line.path[: len(field.path)] == field.path and field.start <= line.start <= field.end:
                found.append((at + len(line.text) - len(line.text.lstrip()), at + len(line.text)))
            at += len(line.text) + 1
        return tuple(found)


def _dissect_captured_packet(packet: CapturedPacket) -> _PacketDissection:
    if packet.transport == RPC_TRANSPORT_NAME:
        return _PacketDissection(_format_rpc_dissection(packet), DissectionLines())
    try:
        made = (dissect_ping if packet.transport == "udp" else dissect)(packet.data)
    except WireError as error:
        return _PacketDissection(f"cannot be dissected: {error}", DissectionLines())
    lines = DissectionLines(list_dissection_lines(made))
    text = "\n".join(line.text for line in lines)
    return _PacketDissection(text, lines if has_bytes_when_rebuilt(made, packet.data) else DissectionLines())


def _format_rpc_dissection(packet: CapturedPacket) -> str:
    from harness.wire.rpc import format_rpc_dissection  # the import takes a second

    return format_rpc_dissection(packet.data, packet.stub)
