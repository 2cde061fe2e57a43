"""Write and read the blocks of a pcapng file: Section Header, Interface Description, Enhanced Packet.

Spec: the IETF draft "PCAP Next Generation (pcapng) Capture File Format", sections 4.1 to 4.3.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from struct import Struct, error, unpack_from
from typing import BinaryIO

from harness.capture.capture_error import CaptureError

LINKTYPE_RAW = 101
"""The link type of packets that begin with their IPv4 or IPv6 header."""
MAX_BLOCK_BYTES = 0x01000000
"""int bytes: the maximum length of a block. A longer block is refused before its content is read."""

MAX_NOTE_TEXT_BYTES = MAX_BLOCK_BYTES - 64
"""int bytes: the maximum length of a note's text."""
_MIN_NOTE_BYTES_TO_COMPRESS = 1_000
"""int bytes: the length above which the text of a note is compressed. Compression reduces it to a fifth on average;
it would not make shorter texts smaller.
"""
_FIRST_BYTE_OF_COMPRESSED_NOTE = 0x78
"""The first byte of compressed data (RFC 1950). The text of an uncompressed note never begins with this byte."""

_SECTION_HEADER_BLOCK_TYPE = 0x0A0D0D0A
_INTERFACE_DESCRIPTION_BLOCK_TYPE = 0x00000001
_ENHANCED_PACKET_BLOCK_TYPE = 0x00000006
_NOTE_BLOCK_TYPE = 0x80006D71
"""The type of the blocks that contain notes. It is one of the types for local use, so other readers skip such
blocks and do not count them as frames.
"""
_NAME_BY_TIMELESS_BLOCK_TYPE = {0x00000002: "Packet", 0x00000003: "Simple Packet"}
_BYTE_ORDER_MAGIC = 0x1A2B3C4D
_END_OF_OPTIONS_CODE, _COMMENT_OPTION_CODE, _PACKET_FLAGS_OPTION_CODE = 0, 1, 2
_INBOUND_FLAG, _OUTBOUND_FLAG = 1, 2
"""The direction of a packet in bits 0 and 1 of epb_flags."""
_SECTION_APPLICATION_OPTION, _INTERFACE_NAME_OPTION, _INTERFACE_TIME_RESOLUTION_OPTION = 4, 2, 9
_MICROSECOND_RESOLUTION = 6
"""The default time resolution as a negative power of 10. It applies to files that specify no time resolution."""
_MIN_BLOCK_BYTES = 12
_BLOCK_HEADER_LAYOUT = Struct("<II")
_PACKET_BLOCK_HEADER_LAYOUT = Struct("<IIIII")
PACKET_OFFSET_IN_BLOCK = _BLOCK_HEADER_LAYOUT.size + _PACKET_BLOCK_HEADER_LAYOUT.size
"""int bytes: the offset of the packet in an Enhanced Packet block."""


@cache
def build_file_header() -> bytes:
    """Return the first blocks of a capture, which describe one section, and one raw IP interface with times in
    microseconds.
    """
    return build_section_block() + build_interface_block(LINKTYPE_RAW, "mqconform")


def build_section_block() -> bytes:
    """Return the Section Header block that begins a capture."""
    section = Struct("<IHHq").pack(_BYTE_ORDER_MAGIC, 1, 0, -1)
    return _read_block(_SECTION_HEADER_BLOCK_TYPE, section + _read_options({_SECTION_APPLICATION_OPTION: b"mqconform"}))


def build_interface_block(link_type: int, name: str) -> bytes:
    """Return the block that describes an interface with times in microseconds."""
    options = {
        _INTERFACE_NAME_OPTION: name.encode(),
        _INTERFACE_TIME_RESOLUTION_OPTION: bytes([_MICROSECOND_RESOLUTION]),
    }
    return _read_block(_INTERFACE_DESCRIPTION_BLOCK_TYPE, Struct("<HHI").pack(link_type, 0, 0) + _read_options(options))


def build_packet_block(
    time_us: int,
    packet: bytes,
    comment: str | None,
    inbound: bool | None = None,
    *,
    interface: int = 0,
    size: int | None = None,
) -> bytes:
    """Return an Enhanced Packet block. The time is in microseconds since 1970 UTC. ``inbound`` states whether the
    recorder received the packet; it is None if this is unknown.

    ``interface`` is the number of the packet's interface. ``size`` is the length of the packet on the network,
    which is given if the capture contains only a part of the packet.
    """
    original = len(packet) if size is None else size
    head = _PACKET_BLOCK_HEADER_LAYOUT.pack(interface, time_us >> 32, time_us & 0xFFFFFFFF, len(packet), original)
    return _read_block(
        _ENHANCED_PACKET_BLOCK_TYPE, head + _pad_to_4_bytes(packet) + _build_packet_options(comment, inbound)
    )


@lru_cache(maxsize=64)
def _build_packet_options(comment: str | None, inbound: bool | None) -> bytes:
    options = {} if comment is None else {_COMMENT_OPTION_CODE: comment.encode()}
    if inbound is not None:
        options[_PACKET_FLAGS_OPTION_CODE] = (_INBOUND_FLAG if inbound else _OUTBOUND_FLAG).to_bytes(4, "little")
    return _read_options(options)


def build_note_block(text: bytes) -> bytes:
    """Return a block with a note that belongs between two packets. A note has at most `MAX_NOTE_TEXT_BYTES` bytes."""
    packed = (
        zlib.compress(text, 1)
        if len(text) >= _MIN_NOTE_BYTES_TO_COMPRESS or text[:1] == bytes([_FIRST_BYTE_OF_COMPRESSED_NOTE])
        else text
    )
    return build_block_of_note_data(packed)


def build_block_of_note_data(data: bytes) -> bytes:
    """Return the block that contains the data of a note."""
    return _read_block(_NOTE_BLOCK_TYPE, len(data).to_bytes(4, "little") + _pad_to_4_bytes(data))


def _read_block(kind: int, body: bytes) -> bytes:
    length = _MIN_BLOCK_BYTES + len(body)
    return _BLOCK_HEADER_LAYOUT.pack(kind, length) + body + length.to_bytes(4, "little")


def _read_options(values: dict[int, bytes]) -> bytes:
    if not values:
        return b""
    listed = [Struct("<HH").pack(code, len(value)) + _pad_to_4_bytes(value) for code, value in values.items()]
    return b"".join(listed) + bytes(4)


def _pad_to_4_bytes(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A packet of a capture. ``number`` is the frame number, counted from 1 as in Wireshark. ``file_offset`` is the
    position of the packet's block in the file. ``inbound`` states whether the recorder of the capture received the
    packet; it is None if the file does not record the direction.
    """

    number: int
    time_us: int
    link_type: int
    data: bytes
    comment: str | None
    file_offset: int
    inbound: bool | None = None


@dataclass(frozen=True, slots=True)
class CapturedNote:
    """A note that a run wrote between two packets of a capture. A note contains, for example, a line of the control
    channel.
    """

    data: bytes
    """The bytes of the note in the file. The bytes of a long note are compressed."""
    file: Path
    offset: int

    @property
    def text(self) -> bytes:
        """Return the text of a note. Raise CaptureError if the text is longer than `MAX_NOTE_TEXT_BYTES` or cannot be
        decompressed.
        """
        if self.data[:1] != bytes([_FIRST_BYTE_OF_COMPRESSED_NOTE]):
            return self.data
        unpacked = zlib.decompressobj()
        try:
            text = unpacked.decompress(self.data, MAX_NOTE_TEXT_BYTES)
        except zlib.error as failure:
            raise CaptureError(
                self.file, self.offset, f"the text of the note cannot be decompressed: {failure}; the file is damaged"
            ) from failure
        if not unpacked.eof:
            raise CaptureError(
                self.file,
                self.offset,
                f"the text of the note is truncated, or has more than {MAX_NOTE_TEXT_BYTES} bytes",
            )
        return text


def read_pcapng(path: Path) -> Iterator[CapturedFrame]:
    """Yield the packets of a capture file. Raise CaptureError if the file is truncated or malformed."""
    yield from (one for one in read_packets_and_notes(path) if isinstance(one, CapturedFrame))


def read_packets_and_notes(path: Path) -> Iterator[CapturedFrame | CapturedNote]:
    """Yield the packets and notes of a capture file in the order of the file."""
    with path.open("rb") as file:
        yield from _PcapngReader(path, file).read_packets_and_notes()


@dataclass(slots=True)
class _PcapngReader:
    path: Path
    file: BinaryIO
    byte_order_mark: str = "<"
    offset: int = 0
    interfaces: list[tuple[int, int]] = field(default_factory=list)
    """For each interface in the section, its link type and the number of its time units per second."""

    def read_packets_and_notes(self) -> Iterator[CapturedFrame | CapturedNote]:
        number = 0
        started = False
        while head := self.file.read(8):
            kind, body = self._read_block(head, started)
            started = True
            if kind == _SECTION_HEADER_BLOCK_TYPE:
                self.interfaces = []
            elif kind == _INTERFACE_DESCRIPTION_BLOCK_TYPE:
                self._read_interface_block(body)
            elif kind == _ENHANCED_PACKET_BLOCK_TYPE:
                number += 1
                yield self._read_packet_block(number, body)
            elif kind == _NOTE_BLOCK_TYPE:
                (size,) = self._unpack_values("I", body)
                if size > len(body) - 4:
                    raise self._build_error(f"a note of {size} bytes does not fit into its block of {len(body)} bytes")
                yield CapturedNote(body[4 : 4 + size], self.path, self.offset)
            elif kind in _NAME_BY_TIMELESS_BLOCK_TYPE:
                raise self._build_error(
                    f"{_NAME_BY_TIMELESS_BLOCK_TYPE[kind]} blocks are not supported; save the capture with "
                    "Enhanced Packet blocks"
                )
            self.offset += _MIN_BLOCK_BYTES + len(body)
        if not started:
            raise self._build_error("the file is empty; a capture begins with a Section Header block")

    def _read_block(self, head: bytes, started: bool) -> tuple[int, bytes]:
        """Read the rest of a block whose first bytes have already been read. Return the type and the body of the
        block.
        """
        magic = self._read_bytes(4) if head[:4] == _SECTION_HEADER_BLOCK_TYPE.to_bytes(4, "little") else b""
        if magic:
            self._learn_byte_order(magic)
        elif not started:
            raise self._build_error("the Section Header block is missing; this is not a pcapng file")
        if len(head) < 8:
            raise self._build_error("the file ends inside the header of a block")
        kind, length = unpack_from(self.byte_order_mark + "II", head)
        if length % 4 or not _MIN_BLOCK_BYTES + len(magic) <= length <= MAX_BLOCK_BYTES:
            raise self._build_error(
                f"a block has {length} bytes; the length must be a multiple of 4, and at most {MAX_BLOCK_BYTES}"
            )
        rest = self._read_bytes(length - 8 - len(magic))
        if unpack_from(self.byte_order_mark + "I", rest, len(rest) - 4)[0] != length:
            raise self._build_error(f"the length at the end of a block differs from the length at its start, {length}")
        return kind, magic + rest[:-4]

    def _learn_byte_order(self, magic: bytes) -> None:
        orders = {_BYTE_ORDER_MAGIC.to_bytes(4, "little"): "<", _BYTE_ORDER_MAGIC.to_bytes(4, "big"): ">"}
        if magic not in orders:
            raise self._build_error(f"the byte-order magic is {magic.hex(' ')}; this is not a pcapng file")
        self.byte_order_mark = orders[magic]

    def _read_interface_block(self, body: bytes) -> None:
        link_type = self._unpack_values("HHI", body)[0]
        resolution = self._read_options(body, 8).get(
            _INTERFACE_TIME_RESOLUTION_OPTION, bytes([_MICROSECOND_RESOLUTION])
        )
        if len(resolution) != 1:
            raise self._build_error("the option if_tsresol must have exactly one byte")
        exponent = resolution[0] & 0x7F
        self.interfaces.append((link_type, (2 if resolution[0] & 0x80 else 10) ** exponent))

    def _read_packet_block(self, number: int, body: bytes) -> CapturedFrame:
        interface, high, low, captured, original = self._unpack_values("IIIII", body)
        if interface >= len(self.interfaces):
            raise self._build_error(f"frame {number} refers to interface {interface}, which no earlier block describes")
        if captured != original:
            raise self._build_error(
                f"frame {number} contains only {captured} of {original} bytes; capture without a snapshot length"
            )
        if _PACKET_BLOCK_HEADER_LAYOUT.size + captured > len(body):
            raise self._build_error(f"frame {number}, with {captured} bytes, does not fit into its block")
        data = body[_PACKET_BLOCK_HEADER_LAYOUT.size : _PACKET_BLOCK_HEADER_LAYOUT.size + captured]
        options = self._read_options(body, _PACKET_BLOCK_HEADER_LAYOUT.size + captured + -captured % 4)
        comment = options.get(_COMMENT_OPTION_CODE)
        direction = self._unpack_values("I", options.get(_PACKET_FLAGS_OPTION_CODE, bytes(4)))[0] & 3
        link_type, ticks = self.interfaces[interface]
        time_us = (high << 32 | low) * 1_000_000 // ticks
        text = None if comment is None else comment.decode(errors="replace")
        inbound = direction == _INBOUND_FLAG if direction in (_INBOUND_FLAG, _OUTBOUND_FLAG) else None
        return CapturedFrame(number, time_us, link_type, data, text, self.offset, inbound)

    def _read_options(self, body: bytes, start: int) -> dict[int, bytes]:
        """Return the options after the fixed part of a block. If several options have the same code, the first of
        them applies.
        """
        found: dict[int, bytes] = {}
        while start < len(body):
            code, length = self._unpack_values("HH", body, start)
            if code == _END_OF_OPTIONS_CODE:
                break
            if start + 4 + length > len(body):
                raise self._build_error(f"option {code} of {length} bytes does not fit into its block")
            found.setdefault(code, body[start + 4 : start + 4 + length])
            start += 4 + length + -length % 4
        return found

    def _unpack_values(self, layout: str, body: bytes, start: int = 0) -> tuple[int, ...]:
        try:
            return unpack_from(self.byte_order_mark + layout, body, start)
        except error:
            raise self._build_error("a block is too short for its fields") from None

    def _read_bytes(self, size: int) -> bytes:
        data = self.file.read(size)
        if len(data) < size:
            raise self._build_error(f"the file is truncated: {size - len(data)} bytes of a block are missing")
        return data

    def _build_error(self, message: str) -> CaptureError:
        return CaptureError(self.path, self.offset, message)
