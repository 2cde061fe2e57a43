"""Record every packet of a test, together with the numbers of the frames that contain the packet in the capture file.

Bytes are recorded where they are sent and received, so the capture is exact. In contrast, a sniffer on loopback
duplicates and loses packets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, count, pairwise
from pathlib import Path
from typing import Any

from harness.capture import CaptureWriter
from harness.capture.deciding import DissectionLines
from harness.capture.framer import Framer
from harness.capture.kinds import KIND_BY_PACKET_CLASS
from harness.capture.message_summary import MessageSummary
from harness.capture.sut_framer import SutFramer
from harness.capture.window import (
    MEMORY_BYTES_PER_FRAME,
    CapturePosition,
    StreamPiece,
    WindowOfLatestFrames,
    remove_first_bytes_from_stream_pieces,
)
from harness.capture.writer import MAX_SEGMENT_BYTES
from harness.environment import Environment
from harness.errors import ConformanceFailure, HarnessError, SutFlood
from harness.wire import (
    WireError,
    dissect,
    dissect_ping,
    format_dissected_packet,
    format_dissection,
    has_bytes_when_rebuilt,
    kind,
    list_dissection_lines,
)
from reference_qm.codec import (
    FormatError,
    FramingError,
    Packet,
    PingPacket,
    UserMessagePacket,
    parse_packet,
    parse_ping,
)
from reference_qm.surface.inputs import Endpoint

FROM_SUT_DIRECTION = "sut->peer"
TO_SUT_DIRECTION = "peer->sut"
MALFORMED_PACKET_KIND = "malformed"
"""The kind that is recorded for bytes that do not form a packet."""
RPC_TRANSPORT_NAME = "rpc"
"""The transport that is recorded for connections that carry DCE/RPC."""
COMMENT_ON_OPENED_RPC_CONNECTION = "DCE/RPC"
"""The comment on the frame that opens a DCE/RPC connection."""
FLOOD_LIMIT_BYTES = 48 * 1024 * 1024
"""int bytes: the maximum amount of data that a SUT may send in one check, which is the size of twelve messages of
maximum length. No check makes the SUT send more than one message of maximum length, or more than 200 messages in all.
"""
LONGEST_KEPT_DISSECTION_BYTES = 64 * 1024
"""int bytes: the maximum length of a packet whose dissection stays in memory. A longer packet is dissected again
when its dissection is needed, because a dissection takes several times the memory of the packet.
"""


def _import_rpc_layers() -> Any:
    """Import the layers of DCE/RPC when they are first used. The import takes a second, and few SUTs need these
    layers.
    """
    from harness.wire import rpc

    return rpc


class Frame:
    """One packet as it was transmitted.

    ``number`` is the frame of the capture in which the packet begins. ``kind`` is the packet's name
    (``EstablishConnection`` ...), or ``malformed`` for bytes that are not a packet; in that case, ``error`` contains
    the reason. ``transport`` is tcp, udp or rpc. For rpc, ``kind`` is the kind of the PDU, and ``stub`` is the PDU's
    content after a check has read it. ``position`` is the packet's index among the frames of its connection.
    ``message`` contains the values of a UserMessage that steps need while they wait for messages; these values stay in
    memory when the bytes do not. ``capture_positions`` contains the positions of the packet's bytes in the capture
    file; it is empty if there is no file.
    """

    def __init__(
        self,
        number: int,
        time_ms: int,
        direction: str,
        transport: str,
        data: bytes,
        kind: str,
        connection: Connection | None = None,
        error: FormatError | None = None,
        stub: Any = None,
    ) -> None:
        self.number = number
        self.time_ms = time_ms
        self.direction = direction
        self.transport = transport
        self.size = len(data)
        self.kind = kind
        self.connection = connection
        self.error = error
        self.stub = stub
        self.position = 0
        self.message: MessageSummary | None = None
        self.window: WindowOfLatestFrames | None = None
        self.capture_positions: list[CapturePosition] = []
        self._data: bytes | None = data

    @property
    def data(self) -> bytes:
        """The bytes of the packet. If memory does not contain them any more, they are read from the capture file."""
        if self._data is None:
            assert self.window is not None
            self._data = self.window.read(self)
        return self._data

    def forget_bytes_and_dissection(self) -> None:
        """Remove the bytes and the dissection of the packet from memory. The capture file still contains the
        packet.
        """
        self._data = None
        for made in ("packet", "layers", "record", "lines"):
            self.__dict__.pop(made, None)

    def drop_dissection(self) -> None:
        """Remove the dissection from memory, because a dissection takes several times the memory of the bytes. When
        the dissection is needed, the packet is dissected again.
        """
        for made in ("packet", "layers", "lines"):
            self.__dict__.pop(made, None)

    def __repr__(self) -> str:
        return f"<{self.direction} {self.kind}, frame {self.number}, {self.size} bytes at {self.time_ms} ms>"

    def __str__(self) -> str:
        return f"{self.kind} in frame {self.number}"

    @property
    def from_sut(self) -> bool:
        """Return whether the SUT sent the packet."""
        return self.direction == FROM_SUT_DIRECTION

    @cached_property
    def packet(self) -> Any:
        """The packet as scapy dissects it."""
        if self.transport == RPC_TRANSPORT_NAME:
            return _import_rpc_layers().dissect_rpc(self.data)
        return dissect_ping(self.data) if self.transport == "udp" else dissect(self.data)

    @cached_property
    def layers(self) -> dict[str, Any]:
        """The headers of the dissected packet, by name. If several headers have the same name, the first of them is
        included. The result is cached, because checks read headers often.
        """
        return {type(layer).__name__: layer for layer in reversed(list(self.packet.iterpayloads()))}

    @cached_property
    def record(self) -> Packet | PingPacket:
        """The packet as the strict codec parses it. If the codec refuses the packet, FormatError is raised."""
        return parse_ping(self.data) if self.transport == "udp" else parse_packet(self.data)

    def __getitem__(self, layer: str) -> Any:
        """Return a header of the packet by its printed name: ``frame["SessionHeader"].AckSequenceNumber``."""
        try:
            return self.layers[layer] if layer in self.layers else self.packet[layer]
        except (IndexError, WireError) as error:
            raise HeaderMissingInPacket(f"the {self.kind} in frame {self.number} has no {layer}: {error}") from error

    @cached_property
    def lines(self) -> DissectionLines:
        """The lines of the packet's dissection, with the bytes of each field. There are none if the bytes are
        uncertain.
        """
        if (
            self.transport == RPC_TRANSPORT_NAME
            or self.kind == MALFORMED_PACKET_KIND
            or not has_bytes_when_rebuilt(self.packet, self.data)
        ):
            return DissectionLines()
        return DissectionLines(list_dissection_lines(self.packet))

    @property
    def dissection_text(self) -> str:
        """Return the packet as indented text for readers."""
        if self.transport == RPC_TRANSPORT_NAME:
            return str(_import_rpc_layers().format_rpc_dissection(self.data, self.stub))
        if self.kind == MALFORMED_PACKET_KIND:
            return format_dissection(self.data, ping=self.transport == "udp")
        return format_dissected_packet(self.packet)


class HeaderMissingInPacket(ConformanceFailure, IndexError):
    """The error when a packet does not have a header that a check reads."""


@dataclass(eq=False, repr=False)
class Connection:
    """The record of one TCP connection between the peer and the SUT.

    ``sut_role`` is ``acceptor`` if the peer opened the connection, otherwise ``initiator``; it is empty if a
    capture of another tool does not show the role. ``closed_by`` is ``sut`` or ``peer``, or None while the
    connection is open.
    """

    number: int
    sut_role: str
    frames: list[Frame] = field(default_factory=list)
    from_sut: list[Frame] = field(default_factory=list)
    """The frames that the SUT sent on this connection."""
    summary_by_class: dict[type, Any] = field(default_factory=dict)
    """The data that passive predicates have stored about the earlier frames of this connection."""
    missing_frames_reason: str | None = None
    """The reason why earlier frames of the connection are missing, or None if the capture is complete."""
    closed_by: str | None = None
    closed_at_ms: int | None = None
    closed_frame: int | None = None
    framer: Framer = field(default_factory=SutFramer)
    has_unparsable_bytes: bool = False
    transport: str = "tcp"
    unframed_pieces: deque[StreamPiece] = field(default_factory=deque)
    """The received bytes of a packet from the SUT that is still incomplete."""

    def add(self, frame: Frame) -> None:
        """Add the next packet to the connection, whichever side sent it."""
        frame.position = len(self.frames)
        self.frames.append(frame)
        if frame.from_sut:
            self.from_sut.append(frame)

    @property
    def received(self) -> list[Frame]:
        """Return the packets that the SUT sent."""
        return self.from_sut.copy()

    @property
    def sent(self) -> list[Frame]:
        """Return the packets that the peer sent."""
        return [frame for frame in self.frames if not frame.from_sut]


class Recorder:
    """A recorder that writes every packet of one test to a pcapng file, and keeps the latest packets in memory.

    If the SUT sends more than ``flood_limit`` bytes, SutFlood is raised once, which ends the test. Later packets
    are ignored.
    """

    def __init__(self, environment: Environment, path: Path | None, flood_limit: int = FLOOD_LIMIT_BYTES) -> None:
        self.environment = environment
        self.path = path
        self.flood_limit = flood_limit
        self.frames: list[Frame] = []
        self.connections: list[Connection] = []
        self.listeners: list[Callable[[Frame], None]] = []
        self._byte_count_from_sut = 0
        """The number of bytes that the SUT has sent."""
        self._counted_bytes = 0
        """int bytes: the size that is compared with ``flood_limit``. It is the number of bytes from the SUT, but
        each packet counts as at least MEMORY_BYTES_PER_FRAME.
        """
        self._writer: CaptureWriter | None = None
        self.new_writer: Callable[[Path], CaptureWriter] = CaptureWriter
        """The function that creates the writer of the capture."""
        self._closed = False
        self._window = WindowOfLatestFrames(path)
        self._numbers = count(1)
        self._began_ms = environment.now().monotonic_ms

    @property
    def writer(self) -> CaptureWriter:
        """The writer of the capture. It is created when the first packet is written."""
        if self._writer is None:
            if self.path is None:
                raise HarnessError("a packet cannot be recorded: the recorder has no file for the capture")
            self._writer = self.new_writer(self.path)
        return self._writer

    def note(self, text: bytes) -> None:
        """Write a note about an event that influences the check but is not a packet. After the end of the capture,
        do nothing.
        """
        if self.path is not None and not self._closed:
            self.writer.note(text)

    @property
    def is_flooded(self) -> bool:
        """Return whether the SUT has sent more data than a check may receive. If so, further packets from the SUT are
        ignored.
        """
        return self.environment.flood_description is not None

    def elapsed_ms(self) -> int:
        """Return the time since the test began (int ms)."""
        return self.environment.now().monotonic_ms - self._began_ms

    def close(self) -> None:
        """End the capture file."""
        self._closed = True
        if self._writer is not None:
            self._writer.close()

    # -- streams ------------------------------------------------------------------------------------------------

    def record_opening(self, peer: Endpoint, sut: Endpoint, *, by_peer: bool, rpc: bool = False) -> Connection:
        """Record that a connection was opened. ``rpc`` states whether the connection carries DCE/RPC."""
        connection = Connection(len(self.connections) + 1, "acceptor" if by_peer else "initiator")
        if rpc:
            from harness.capture.rpc_stream import RpcFramer

            connection.transport, connection.framer = RPC_TRANSPORT_NAME, RpcFramer()
        self.connections.append(connection)
        if self.path is not None:
            client, server = (peer, sut) if by_peer else (sut, peer)
            self.writer.write_tcp_open(
                connection.number,
                client,
                server,
                time_us=self.environment.epoch_us(),
                comment=COMMENT_ON_OPENED_RPC_CONNECTION if rpc else None,
                client_is_sut=not by_peer,
            )
        return connection

    def record_sent(self, connection: Connection, data: bytes) -> Frame:
        """Record, as one frame, bytes that the peer sent, even if the bytes are not a packet."""
        number, places = self._write_stream_bytes(connection, data, from_sut=False)
        return self._add_frame(connection, number, TO_SUT_DIRECTION, data, places)

    def record_received(self, connection: Connection, data: bytes) -> list[Frame]:
        """Record bytes that were received from the SUT. Return the packets that these bytes complete."""
        if len(data) > MAX_SEGMENT_BYTES:
            self._note_bytes_received_together(len(data))
        parts = (data[start : start + MAX_SEGMENT_BYTES] for start in range(0, len(data), MAX_SEGMENT_BYTES))
        return [frame for part in parts for frame in self._record_pieces(connection, part)]

    def _record_pieces(self, connection: Connection, data: bytes) -> list[Frame]:
        """Record bytes that were received in one piece. Return the packets that they complete.

        The capture contains a separate frame for each part that begins or continues a packet. So a frame number
        identifies one packet. The PSH flag marks the end of a packet, so that a reader of the capture finds the
        same packets.
        """
        if self.is_flooded:
            return []
        if connection.has_unparsable_bytes:
            self._count_sut_packets(len(data))
            self._write_packet_piece(connection, data)
            return [self._record_unframed_bytes(connection, data, FormatError("stream", 0, "MS-MQQB 2.1.1", "broken"))]
        held, broken = connection.framer.pending_size, None
        try:
            packets = connection.framer.feed(data)
        except FramingError as error:
            packets, broken = error.packets, error
        self._count_sut_packets(len(data), len(packets))
        ends = [end - held for end in accumulate(map(len, packets))]
        edges = [0, *(end for end in ends if 0 < end < len(data)), len(data)]
        if len(edges) > len((0, len(data))):
            self._note_bytes_received_together(len(data))
        for start, end in pairwise(edges):
            self._write_packet_piece(connection, data[start:end], more=end not in ends and broken is None)
        frames = [self._record_unframed_bytes(connection, packet) for packet in packets]
        if broken is not None:
            connection.has_unparsable_bytes = True
            frames.append(self._record_unframed_bytes(connection, connection.framer.unsplittable_bytes, broken))
        return frames

    def _note_bytes_received_together(self, size: int) -> None:
        """Write a note that the bytes in the following frames were received in one piece: when the tester answered
        the first of these frames, it had already received all of them.
        """
        self.note(b'{"bytes": %d}' % size)

    def record_incomplete_packets_of_connections(self) -> None:
        """For each connection, record the remaining bytes from the SUT, which do not form a complete packet."""
        for connection in self.connections:
            self._record_trailing_bytes(connection)

    def _record_trailing_bytes(self, connection: Connection) -> None:
        left = connection.framer.get_remaining_bytes()
        if left and connection.unframed_pieces:
            self._record_unframed_bytes(connection, left)
        connection.unframed_pieces.clear()

    def record_connection_end(self, connection: Connection, *, by_peer: bool) -> None:
        """Record that a side has closed a connection."""
        if connection.closed_by is not None:
            return
        self._record_trailing_bytes(connection)
        connection.closed_by = "peer" if by_peer else "sut"
        connection.closed_at_ms = self.elapsed_ms()
        if self.path is not None:
            from_client = by_peer == (connection.sut_role == "acceptor")
            connection.closed_frame = self.writer.write_tcp_close(
                connection.number, from_client, time_us=self.environment.epoch_us()
            )

    def _write_packet_piece(self, connection: Connection, data: bytes, *, more: bool = False) -> None:
        """Write bytes from the SUT that belong to at most one packet. ``more`` states whether later bytes belong to
        the same packet.
        """
        number, places = self._write_stream_bytes(connection, data, from_sut=True, more=more)
        connection.unframed_pieces.extend(
            StreamPiece(number, place) for place in places or [CapturePosition(0, len(data))]
        )

    def _record_unframed_bytes(self, connection: Connection, data: bytes, error: FormatError | None = None) -> Frame:
        """Record ``data`` as the next packet from the SUT. The connection stores the bytes that are not part of a
        packet yet; ``data`` is the beginning of these bytes.
        """
        number, places = remove_first_bytes_from_stream_pieces(connection.unframed_pieces, len(data))
        return self._add_frame(connection, number, FROM_SUT_DIRECTION, data, places, error)

    def _write_stream_bytes(
        self, connection: Connection, data: bytes, *, from_sut: bool, more: bool = False
    ) -> tuple[int, list[CapturePosition]]:
        """Write bytes of a stream. Return the number of the first frame that contains them, and the positions of
        the bytes in the file.
        """
        if self.path is None:
            return self._get_next_frame_number(), []
        from_client = from_sut == (connection.sut_role == "initiator")
        time_us = self.environment.epoch_us()
        numbers = self.writer.write_tcp_data(connection.number, from_client, data, time_us=time_us, more=more)
        return numbers[0], self.writer.places

    # -- datagrams ----------------------------------------------------------------------------------------------

    def record_datagram(self, peer: Endpoint, sut: Endpoint, data: bytes, *, from_sut: bool) -> Frame:
        """Record a datagram. Raise SutFlood if the SUT has sent too much."""
        if from_sut:
            self._count_sut_packets(len(data))
        if self.path is None:
            number, places = self._get_next_frame_number(), list[CapturePosition]()
        else:
            source, target = (sut, peer) if from_sut else (peer, sut)
            number = self.writer.write_udp(source, target, data, time_us=self.environment.epoch_us(), from_sut=from_sut)
            places = self.writer.places
        return self._add_frame(None, number, FROM_SUT_DIRECTION if from_sut else TO_SUT_DIRECTION, data, places)

    def list_pings(self, *, from_sut: bool) -> list[Frame]:
        """Return the ping packets that one side sent."""
        return [frame for frame in self.frames if frame.kind == "Ping" and frame.from_sut == from_sut]

    def _get_next_frame_number(self) -> int:
        """Return the number of the next frame for a recorder that writes no capture file, and therefore counts the
        frames itself.
        """
        return next(self._numbers)

    # -- stored packets -----------------------------------------------------------------------------------------

    def _count_sut_packets(self, size: int, packets: int = 1) -> None:
        """Count bytes from the SUT and the packets that they complete. Raise SutFlood if the SUT has sent too many
        bytes or packets.
        """
        self._byte_count_from_sut += size
        self._counted_bytes += max(size, MEMORY_BYTES_PER_FRAME * max(packets, 1))
        if self._counted_bytes > self.flood_limit:
            self.environment.flood_description = (
                f"the SUT sent {self._byte_count_from_sut} bytes in the first {self.elapsed_ms()} ms of one check and "
                f"continues to send; a check reads at most {self.flood_limit} bytes and "
                f"{self.flood_limit // MEMORY_BYTES_PER_FRAME} packets"
            )
            raise SutFlood(self.environment.flood_description)

    def _add_frame(
        self,
        connection: Connection | None,
        number: int,
        direction: str,
        data: bytes,
        places: list[CapturePosition],
        error: FormatError | None = None,
    ) -> Frame:
        transport = "udp" if connection is None else connection.transport
        frame = Frame(number, self.elapsed_ms(), direction, transport, data, MALFORMED_PACKET_KIND, connection, error)
        if error is None:
            set_frame_kind(frame)
        self.frames.append(frame)
        if connection is not None:
            connection.add(frame)
        self._window.take(frame, places)
        for listener in self.listeners:
            listener(frame)
        return frame


def set_frame_kind(frame: Frame) -> None:
    """Set the kind of a frame. Bytes that are not a packet get the kind malformed, even if the peer sent them on
    purpose.
    """
    try:
        frame.kind = _find_pdu_kind(frame) if frame.transport == RPC_TRANSPORT_NAME else _find_packet_kind(frame)
    except ValueError:
        return
    if frame.size > LONGEST_KEPT_DISSECTION_BYTES:
        frame.drop_dissection()


def _find_packet_kind(frame: Frame) -> str:
    """Return the kind of a packet. Raise WireError if neither codec can parse the packet. If the strict codec can
    parse it, scapy does not dissect it, because most packets are never read again.
    """
    try:
        record = frame.record
    except FormatError:
        return kind(frame.data, ping=frame.transport == "udp")
    if isinstance(record, UserMessagePacket):
        frame.message = MessageSummary.from_packet(record)
    return KIND_BY_PACKET_CLASS[type(record)]


def _find_pdu_kind(frame: Frame) -> str:
    """Return the kind of a PDU. Raise WireError if the PDU cannot be parsed. If the peer sent the PDU, only its
    type is read, because checks may send wrong PDUs on purpose.
    """
    from harness.wire.rpc_fragments import consists_of_header_and_stub

    name = str(_import_rpc_layers().get_rpc_kind(frame.data))
    if frame.from_sut and not consists_of_header_and_stub(frame.data):
        _import_rpc_layers().check_pdu(frame.data)
    return name
