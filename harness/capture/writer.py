"""Write captures of the harness's traffic, with every byte and both endpoints. The data come from the harness's own
records, not from a sniffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.capture.ip import MAX_DATAGRAM_BYTES, TcpFlags, TcpSegment, UdpDatagram, build_tcp_packet, build_udp_packet
from harness.capture.pcapng import PACKET_OFFSET_IN_BLOCK, build_file_header, build_note_block, build_packet_block
from harness.capture.whole_writes import append_whole_record, open_record_file
from harness.capture.window import CapturePosition
from harness.errors import HarnessError
from reference_qm.surface.inputs import Endpoint

MAX_SEGMENT_BYTES = 60_000
"""int bytes: the maximum amount of data in one frame."""

_ACK_FLAG = int(TcpFlags.ACK)  # plain integers, because combining enum flags takes longer than writing a frame
_SYN_FLAG, _PSH_FLAG, _FIN_FLAG, _RST_FLAG = int(TcpFlags.SYN), int(TcpFlags.PSH), int(TcpFlags.FIN), int(TcpFlags.RST)


@dataclass(slots=True)
class _ConnectionSide:
    """One endpoint of a connection: the sequence number of its next byte, and whether the endpoint has sent its
    FIN.
    """

    endpoint: Endpoint
    sequence: int
    has_sent_fin: bool = False


@dataclass(frozen=True, slots=True)
class _Connection:
    client: _ConnectionSide
    server: _ConnectionSide
    client_is_sut: bool | None

    def get_sender_and_receiver(self, from_client: bool) -> tuple[_ConnectionSide, _ConnectionSide]:
        """Return the sending and the receiving endpoint. ``from_client`` states whether the client sends."""
        return (self.client, self.server) if from_client else (self.server, self.client)

    def is_inbound(self, from_client: bool) -> bool | None:
        """Return whether bytes come from the SUT, or None if this is unknown. ``from_client`` states whether the
        client sends the bytes.
        """
        return None if self.client_is_sut is None else self.client_is_sut == from_client


class CaptureWriter:
    """A writer of pcapng files with raw IP packets. Each packet is written immediately, so that no packet is lost
    if the run is killed.

    The times passed to the methods are counted from ``start_us`` (int microseconds since 1970 UTC). Frame numbers count
    from 1. An endpoint is an IPv4 or IPv6 address as text, and a port. If it is known which endpoint is the SUT, every
    frame has a direction: packets from the SUT are inbound. Misuse raises HarnessError.
    """

    def __init__(self, path: Path, start_us: int = 0) -> None:
        self.path = path
        self.frames = 0
        self.places: list[CapturePosition] = []
        """The positions in the file of the data that were written last."""
        self._size = len(build_file_header())
        self._end_offset_of_last_data = 0
        """The offset in the file at which the data of the last packet end."""
        self._blocks_before_next_packet = bytearray()
        """The blocks that will be written with the next packet: notes, and the first packets of a handshake."""
        self._start_us = start_us
        self._connections: dict[int, _Connection] = {}
        self._file = open_record_file(path, "wb")
        append_whole_record(self._file, path, build_file_header())

    def write_tcp_open(
        self,
        conn_id: int,
        client: Endpoint,
        server: Endpoint,
        *,
        time_us: int,
        comment: str | None = None,
        client_is_sut: bool | None = None,
    ) -> list[int]:
        """Write the handshake of a new connection (SYN, SYN-ACK, ACK); return its three frame numbers."""
        if conn_id in self._connections:
            raise HarnessError(f"{self.path}: connection {conn_id} is already open")
        # Different initial sequence numbers distinguish the directions in a hex view.
        connection = _Connection(
            _ConnectionSide(client, 0x1000_0000), _ConnectionSide(server, 0x2000_0000), client_is_sut
        )
        out, back = connection.is_inbound(True), connection.is_inbound(False)
        opening = _build_segment(connection.client, connection.server, _SYN_FLAG)
        numbers = [self._write_segment(opening._replace(acknowledged=0), time_us, comment, inbound=out, later=True)]
        connection.client.sequence += 1
        answer = _build_segment(connection.server, connection.client, _SYN_FLAG | _ACK_FLAG)
        numbers.append(self._write_segment(answer, time_us, inbound=back, later=True))
        connection.server.sequence += 1
        numbers.append(
            self._write_segment(_build_segment(connection.client, connection.server, _ACK_FLAG), time_us, inbound=out)
        )
        self._connections[conn_id] = connection
        return numbers

    def write_tcp_data(
        self,
        conn_id: int,
        from_client: bool,
        data: bytes,
        *,
        time_us: int,
        comment: str | None = None,
        more: bool = False,
    ) -> list[int]:
        """Write bytes of a stream in segments of at most MAX_SEGMENT_BYTES bytes. Return the frame numbers of the
        segments. The last segment has the PSH flag, unless the packet continues in later bytes (``more``).
        """
        if not data:
            raise HarnessError(f"{self.path}: there is no data to write on connection {conn_id}")
        sender, receiver = self._find_direction(conn_id, from_client)
        inbound = self._connections[conn_id].is_inbound(from_client)
        numbers, places = [], []
        for start in range(0, len(data), MAX_SEGMENT_BYTES):
            part = data[start : start + MAX_SEGMENT_BYTES]
            has_push_flag = not more and start + len(part) == len(data)
            flags = _PSH_FLAG | _ACK_FLAG if has_push_flag else _ACK_FLAG
            numbers.append(
                self._write_segment(_build_segment(sender, receiver, flags, part), time_us, comment, inbound=inbound)
            )
            places.append(CapturePosition(self._end_offset_of_last_data - len(part), len(part)))
            sender.sequence = sender.sequence + len(part) & 0xFFFFFFFF
            comment = None
        self.places = places
        return numbers

    def write_tcp_close(
        self, conn_id: int, from_client: bool, *, time_us: int, reset: bool = False, comment: str | None = None
    ) -> int:
        """Write the FIN with which one side closes its direction. Return the frame number.

        The other side can send until it also closes. If ``reset`` is true, write a RST instead, which closes both
        directions.
        """
        sender, receiver = self._find_direction(conn_id, from_client)
        ending = _build_segment(sender, receiver, (_RST_FLAG if reset else _FIN_FLAG) | _ACK_FLAG)
        inbound = self._connections[conn_id].is_inbound(from_client)
        number = self._write_segment(ending, time_us, comment, inbound=inbound)
        sender.sequence = sender.sequence + 1 & 0xFFFFFFFF
        sender.has_sent_fin = True
        if reset or receiver.has_sent_fin:
            del self._connections[conn_id]
        return number

    def write_udp(
        self,
        src: Endpoint,
        dst: Endpoint,
        data: bytes,
        *,
        time_us: int,
        comment: str | None = None,
        from_sut: bool | None = None,
    ) -> int:
        """Write a UDP datagram. Return its frame number."""
        if len(data) > MAX_DATAGRAM_BYTES:
            raise HarnessError(f"{self.path}: a datagram has {len(data)} bytes; at most {MAX_DATAGRAM_BYTES} bytes fit")
        try:
            packet = build_udp_packet(UdpDatagram(src, dst, data), self.frames & 0xFFFF)
        except ValueError as error:
            raise HarnessError(f"{self.path}: {error}") from error
        number = self._write_packet_block(packet, time_us, comment, from_sut)
        self.places = [CapturePosition(self._end_offset_of_last_data - len(data), len(data))]
        return number

    def note(self, text: bytes) -> None:
        """Write a note between the last packet and the next packet. A note has at most `MAX_NOTE_TEXT_BYTES` bytes.

        The note is written together with the next packet, because a separate write would cost more than the note.
        """
        self._blocks_before_next_packet += build_note_block(text)

    def close(self) -> None:
        """Close the file."""
        if self._blocks_before_next_packet:
            append_whole_record(self._file, self.path, bytes(self._blocks_before_next_packet))
            self._blocks_before_next_packet.clear()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find_direction(self, conn_id: int, from_client: bool) -> tuple[_ConnectionSide, _ConnectionSide]:
        connection = self._connections.get(conn_id)
        if connection is None:
            raise HarnessError(f"{self.path}: connection {conn_id} is not open")
        sender, receiver = connection.get_sender_and_receiver(from_client)
        if sender.has_sent_fin:
            side = "client" if from_client else "server"
            raise HarnessError(f"{self.path}: the {side} of connection {conn_id} has already closed its direction")
        return sender, receiver

    def _write_segment(
        self,
        segment: TcpSegment,
        time_us: int,
        comment: str | None = None,
        *,
        inbound: bool | None,
        later: bool = False,
    ) -> int:
        """Write a segment, and return its frame number. ``later`` states whether the segment is written only together
        with the next frame.
        """
        try:
            packet = build_tcp_packet(segment, self.frames & 0xFFFF)
        except ValueError as error:
            raise HarnessError(f"{self.path}: {error}") from error
        return self._write_packet_block(packet, time_us, comment, inbound, later=later)

    def _write_packet_block(
        self, packet: bytes, time_us: int, comment: str | None, inbound: bool | None, *, later: bool = False
    ) -> int:
        block = build_packet_block(self._start_us + time_us, packet, comment, inbound)
        if later:
            self._blocks_before_next_packet += block
            self.frames += 1
            return self.frames
        self._end_offset_of_last_data = (
            self._size + len(self._blocks_before_next_packet) + PACKET_OFFSET_IN_BLOCK + len(packet)
        )
        if self._blocks_before_next_packet:
            block = bytes(self._blocks_before_next_packet) + block
            self._blocks_before_next_packet.clear()
        self._size += len(block)
        append_whole_record(self._file, self.path, block)
        self.frames += 1
        return self.frames


def _build_segment(sender: _ConnectionSide, receiver: _ConnectionSide, flags: int, data: bytes = b"") -> TcpSegment:
    return TcpSegment(sender.endpoint, receiver.endpoint, sender.sequence, receiver.sequence, flags, data)
