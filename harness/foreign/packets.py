"""Split one direction of a connection into packets, even if the capture began late or bytes are missing in it. After
missing bytes, the start of the next packet is unknown. The splitter then searches for the signature of a packet,
and accepts the packet if it can be parsed and another packet follows. Spec: MS-MQMQ 2.2.19.1, MS-MQQB 2.1.1, C706
12.6.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from harness.capture.framer import Framer
from harness.capture.sut_framer import SutFramer
from reference_qm.codec import FormatError, FramingError, parse_packet
from reference_qm.codec.base import PACKET_SIGNATURE, PACKET_VERSION_NUMBER, measure_packet

HandleSplitPacket = Callable[[bytes, int, int, FormatError | None], None]
"""The type of functions that receive a packet. The arguments are the packet, the number of the frame in which it
begins, the time (int us) of the frame that completes it, and the error (None unless the packet is malformed).
"""

BYTES_TO_READ_PACKET_SIZE = 12
"""The number of bytes at the start of a packet that must be known to find the size of the packet."""
PDU_HEADER_BYTES = 16
LONGEST_PACKET_START_BYTES = max(BYTES_TO_READ_PACKET_SIZE, PDU_HEADER_BYTES)
"""The number of bytes that must be known at the start of any packet or PDU to find its size. It is the larger of two
numbers: that for packets, and that for PDUs.
"""
_SIGNATURE_OFFSET = 4
"""The offset of the signature in a packet."""
_HIGHEST_PDU_TYPE = 19
_SESSION_DATA_REPRESENTATIONS = (bytes((0x00, 0, 0, 0)), bytes((0x10, 0, 0, 0)))
"""The data representations that PDUs use: ASCII and IEEE, in either byte order."""


class StreamSplitter(ABC):
    """A parser that splits one direction of a connection into packets. ``lost``: the number of incomplete packets.
    Consecutive incomplete packets count as one packet.
    """

    def __init__(self, framer: Framer, take: HandleSplitPacket, *, late: bool) -> None:
        self._framer = framer
        self._take_packet = take
        self._is_packet_start_known = not late
        """Whether a packet begins with the first stored byte or, if no byte is stored, with the next byte."""
        self._is_packet_start_assumed = False
        """Whether the start of the current packet is only an assumption."""
        self._unprocessed_bytes = bytearray()
        """The bytes that have not been passed to the framer yet."""
        self._current_packet_size = 0
        """The size of the current packet, or 0 while the size is unknown. The bytes of this packet are stored or
        were already passed to the framer.
        """
        self._skipped = 0
        """The number of bytes that must still be skipped. They belong to a packet whose first bytes are missing."""
        self._pieces: deque[tuple[int, int]] = deque()
        """The frames of the stored bytes, each with the number of bytes from this frame."""
        self._broken = False
        self._time_us = 0
        self.lost = 0

    @abstractmethod
    def read_size(self, head: bytes) -> int | None:
        """Return the size of the packet that begins with the given bytes, or None if the size is unknown or no
        packet begins with these bytes.
        """

    @abstractmethod
    def find(self, data: bytes) -> int | None:
        """Return the offset at which a packet seems to begin, or None if there is no such offset."""

    @abstractmethod
    def is_parsable_packet(self, data: bytes) -> bool:
        """Return whether the bytes are a packet that can be parsed."""

    def data(self, data: bytes, number: int, time_us: int, has_push_flag: bool) -> None:
        """Add the next bytes of this direction of the connection."""
        self._time_us = time_us
        if self._skipped:
            skipped = min(self._skipped, len(data))
            self._skipped -= skipped
            data = data[skipped:]
        if not data:
            return
        self._unprocessed_bytes += data
        self._pieces.append((number, len(data)))
        if not self._is_packet_start_known:
            self._search_packet()
        elif self._is_packet_start_assumed:
            self._try_packet_start(has_push_flag)
        if self._broken:
            self._discard_held_bytes()
        elif self._is_packet_start_known and not self._is_packet_start_assumed and self._unprocessed_bytes:
            self._feed_framer(has_push_flag)

    def note_gap(self, size: int) -> None:
        """Handle a gap in the capture, in which ``size`` bytes of this direction are missing."""
        there = self._framer.pending_size + len(self._unprocessed_bytes)
        known = self._is_packet_start_known and not self._broken and not self._skipped
        wanted = self.read_size(self._get_first_bytes()) if known else None
        self.lost += known
        self._discard_held_bytes()
        self._broken = False
        if self._skipped >= size:
            self._skipped -= size
        elif wanted is not None and wanted >= there + size:
            self._skipped = wanted - there - size
        else:
            self._skipped = 0
            self._is_packet_start_known = self._is_packet_start_assumed = False

    def end(self) -> None:
        """Pass the remaining bytes at the end of a direction as a packet, unless they are the beginning of an
        incomplete packet.
        """
        if not self._is_packet_start_known or self._is_packet_start_assumed or self._broken:
            return
        self._feed_framer(True)
        left = self._framer.get_remaining_bytes()
        if left:
            self._take_packet(left, self._take_frame_bytes(len(left)), self._time_us, None)

    def _feed_framer(self, has_push_flag: bool) -> None:
        """Pass the stored bytes to the framer if they may complete a packet."""
        there = self._framer.pending_size + len(self._unprocessed_bytes)
        if not self._current_packet_size:
            self._current_packet_size = self.read_size(self._get_first_bytes()) or 0
        if not has_push_flag and self._current_packet_size > there:
            return
        data, self._unprocessed_bytes = bytes(self._unprocessed_bytes), bytearray()
        error: FramingError | None = None
        try:
            packets = self._framer.feed(data)
        except FramingError as broken:
            packets, error = broken.packets, broken
        if packets:
            self._current_packet_size = 0
        for packet in packets:
            self._take_packet(packet, self._take_frame_bytes(len(packet)), self._time_us, None)
        if error is not None:
            self._broken = True
            self._take_packet(
                self._framer.unsplittable_bytes,
                self._take_frame_bytes(len(self._framer.unsplittable_bytes)),
                self._time_us,
                error,
            )

    def _search_packet(self) -> None:
        """Search for a packet in the stored bytes; discard the bytes before the packet."""
        at = self.find(bytes(self._unprocessed_bytes))
        if at is None:
            self._drop_first_bytes(max(len(self._unprocessed_bytes) - LONGEST_PACKET_START_BYTES, 0))
            return
        self._drop_first_bytes(at)
        self._is_packet_start_known = self._is_packet_start_assumed = True
        self._try_packet_start(False)

    def _try_packet_start(self, has_push_flag: bool) -> None:
        """Decide whether a packet begins with the first stored byte. It does if the bytes can be parsed as a packet,
        and if another packet or no byte follows them.
        """
        while self._is_packet_start_assumed:
            size = self.read_size(bytes(self._unprocessed_bytes[:LONGEST_PACKET_START_BYTES]))
            if size is None or len(self._unprocessed_bytes) < size:
                return
            after = bytes(self._unprocessed_bytes[size : size + LONGEST_PACKET_START_BYTES])
            if self.is_parsable_packet(bytes(self._unprocessed_bytes[:size])) and (not after or self.find(after) == 0):
                self._is_packet_start_assumed = False
            elif not after or len(after) == LONGEST_PACKET_START_BYTES or has_push_flag:
                self._drop_first_bytes(1)
                at = self.find(bytes(self._unprocessed_bytes))
                if at is None:
                    self._is_packet_start_known = self._is_packet_start_assumed = False
                    self._drop_first_bytes(max(len(self._unprocessed_bytes) - LONGEST_PACKET_START_BYTES, 0))
                else:
                    self._drop_first_bytes(at)
            else:
                return

    def _get_first_bytes(self) -> bytes:
        return (self._framer.first_bytes + bytes(self._unprocessed_bytes[:LONGEST_PACKET_START_BYTES]))[
            :LONGEST_PACKET_START_BYTES
        ]

    def _drop_first_bytes(self, size: int) -> None:
        """Discard the first stored bytes."""
        if size:
            self._take_frame_bytes(size)
            del self._unprocessed_bytes[:size]

    def _discard_held_bytes(self) -> None:
        self._framer.clear()
        self._unprocessed_bytes.clear()
        self._pieces.clear()
        self._current_packet_size = 0

    def _take_frame_bytes(self, size: int) -> int:
        """Remove the first ``size`` bytes from the list of pieces; return the number of the frame that contains the
        first of them.
        """
        number = self._pieces[0][0] if self._pieces else 0
        while size and self._pieces:
            frame, there = self._pieces.popleft()
            if there > size:
                self._pieces.appendleft((frame, there - size))
            size -= min(size, there)
        return number


class PacketSplitter(StreamSplitter):
    """A parser that splits the bytes of one direction of a connection into packets of MS-MQQB."""

    def __init__(self, take: HandleSplitPacket, *, late: bool) -> None:
        super().__init__(SutFramer(), take, late=late)

    def read_size(self, head: bytes) -> int | None:
        try:
            return measure_packet(head)
        except FormatError:
            return None

    def find(self, data: bytes) -> int | None:
        return find_possible_packet(data)

    def is_parsable_packet(self, data: bytes) -> bool:
        try:
            parse_packet(data)
        except FormatError:
            return False
        return True


def find_possible_packet(data: bytes) -> int | None:
    """Return the offset and size of the first possible packet of MS-MQQB in the bytes, or None if there is no such
    packet.
    """
    at = data.find(PACKET_SIGNATURE, _SIGNATURE_OFFSET)
    while at >= 0:
        begin = at - _SIGNATURE_OFFSET
        if data[begin] == PACKET_VERSION_NUMBER and len(data) - begin >= BYTES_TO_READ_PACKET_SIZE:
            try:
                measure_packet(data[begin : begin + BYTES_TO_READ_PACKET_SIZE])
            except FormatError:
                pass
            else:
                return begin
        at = data.find(PACKET_SIGNATURE, at + 1)
    return None


def begins_with_pdu(data: bytes) -> bool:
    """Return whether the bytes begin like a DCE/RPC PDU of version 5.0 or 5.1."""
    if (
        len(data) < PDU_HEADER_BYTES
        or data[0] != 5
        or data[1] > 1
        or data[2] > _HIGHEST_PDU_TYPE
        or data[4:8] not in _SESSION_DATA_REPRESENTATIONS
    ):
        return False
    return int.from_bytes(data[8:10], "little" if data[4] else "big") >= PDU_HEADER_BYTES
