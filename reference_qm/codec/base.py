"""Parses the BaseHeader, and measures the size of packets in a stream. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from struct import Struct
from typing import ClassVar, Self

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError
from reference_qm.codec.layout import U8, U16, U32, Layout
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.value_object import value_object

BASE_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.19.1"
PACKET_VERSION_NUMBER = 0x10
PACKET_SIGNATURE = b"LIOR"  # 0x524F494C, little-endian
MAX_PACKET_SIZE = 0x00400000
INFINITE_TIMEOUT = 0xFFFFFFFF
BASE_HEADER_SIZE = 16
SESSION_HEADER_SIZE = 16
MIN_INTERNAL_PACKET_BYTES = 20
"""The minimum size of an internal packet in bytes: the sizes of BaseHeader and InternalHeader."""
MIN_USER_MESSAGE_BYTES = 120
"""The minimum size of a UserMessage in bytes:

16 bytes for the BaseHeader, 48 for the UserHeader without queue names, and 56 for the MessagePropertiesHeader without
label, extension and body.
"""
MIN_DEBUG_HEADER_BYTES = 4
SESSION_ACK_SIZES = (0x14, 0x24)
"""The values of PacketSize that are accepted in a SessionAck, which always has 36 bytes. Windows sends the size 0x24
(36), but the specification demands 0x14 (MS-MQQB 4.1.8).
"""

_INTERNAL_FLAG, _SESSION_HEADER_FLAG, _DEBUG_HEADER_FLAG = 1 << 3, 1 << 4, 1 << 5
_HEADER_BEGIN_LAYOUT = Struct("<BBH4sI")
_BASE_HEADER_LAYOUT = Layout(
    "BaseHeader",
    BASE_HEADER_SPEC_SECTION,
    VersionNumber=U8,
    Reserved=U8,
    Flags=U16,
    Signature="4s",
    PacketSize=U32,
    TimeToReachQueue=U32,
)


@value_object
class BaseHeader(RecordWithBitFlags, Record):
    """The first header of every packet.

    Spec: MS-MQMQ 2.2.19.1. 16 bytes. VersionNumber u8 and Signature u32 are fixed; Reserved u8; Flags u16 LE;
    PacketSize u32 LE bytes (if 0, ``build`` of the packet computes the size); TimeToReachQueue u32 LE s, 0xFFFFFFFF
    for no limit.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.19.1"

    Reserved: int = 0
    Flags: int = 0
    PacketSize: int = 0
    TimeToReachQueue: int = INFINITE_TIMEOUT

    VersionNumber: ClassVar[int] = PACKET_VERSION_NUMBER
    Signature: ClassVar[int] = int.from_bytes(PACKET_SIGNATURE, "little")

    PR = Bits(0, 3)
    IN = Bits(3)
    SH = Bits(4)
    DH = Bits(5)
    X9 = Bits(6)
    X8 = Bits(7)
    TR = Bits(8)
    X6 = Bits(9)
    X5 = Bits(10)
    X4 = Bits(11)
    X3 = Bits(12)
    X2 = Bits(13)
    X1 = Bits(14)
    X0 = Bits(15)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        """Read a BaseHeader (16 bytes); raise FormatError for a wrong VersionNumber or Signature.

        PacketSize is not checked here but by ``measure_packet``.
        """
        start = cursor.offset
        version, reserved, flags, signature, size, life = cursor.unpack(_BASE_HEADER_LAYOUT)
        _check_version_number(version, start)
        _check_packet_signature(signature, start + 4)
        return cls(reserved, flags, size, life)

    @classmethod
    def read_measured_header(cls, data: bytes) -> Self:
        """Read the BaseHeader of a packet whose VersionNumber and Signature ``measure_packet`` has already checked."""
        _, reserved, flags, _, size, life = _BASE_HEADER_LAYOUT.unpack_from(data)
        return cls(reserved, flags, size, life)

    def build(self) -> bytes:
        """Return the 16 bytes of the header, with the value of the attribute PacketSize."""
        return self.build_header_with_size(self.PacketSize)

    def build_header_with_size(self, size: int) -> bytes:
        """Return the 16 bytes of the header, with ``size`` as the value of PacketSize."""
        return _BASE_HEADER_LAYOUT.pack(
            PACKET_VERSION_NUMBER, self.Reserved, self.Flags, PACKET_SIGNATURE, size, self.TimeToReachQueue
        )


def measure_packet(data: bytes | bytearray, start: int = 0) -> int | None:
    """Return the size in bytes of the packet that begins at ``start``, or None if its PacketSize has not arrived
    yet.

    Spec: MS-MQMQ 2.2.19.1, MS-MQQB 2.1.1. Raises FormatError as soon as a byte cannot be part of a packet. Offsets
    in errors count from the start of the packet.
    """
    available = len(data) - start
    if available < 12:
        if available > 0:
            _check_version_number(data[start], 0)
        _check_packet_signature(bytes(data[start + 4 : start + 8]), 4)
        return None
    version, _, flags, signature, size = _HEADER_BEGIN_LAYOUT.unpack_from(data, start)
    if version != PACKET_VERSION_NUMBER or signature != PACKET_SIGNATURE:
        _check_version_number(version, 0)
        _check_packet_signature(signature, 4)
    if size > MAX_PACKET_SIZE:
        raise _make_size_error(size, f"the value is above the maximum 0x{MAX_PACKET_SIZE:08X}")
    if flags & _INTERNAL_FLAG:
        if flags & _SESSION_HEADER_FLAG:
            if size not in SESSION_ACK_SIZES:
                raise _make_size_error(
                    size, "the value is neither 0x14 nor 0x24, the sizes of a SessionAck (IN and SH set)"
                )
            return MIN_INTERNAL_PACKET_BYTES + SESSION_HEADER_SIZE
        if size < MIN_INTERNAL_PACKET_BYTES:
            raise _make_size_error(
                size, f"the value is below {MIN_INTERNAL_PACKET_BYTES}, the minimum of an internal packet"
            )
        return int(size)
    least = MIN_USER_MESSAGE_BYTES + (MIN_DEBUG_HEADER_BYTES if flags & _DEBUG_HEADER_FLAG else 0)
    if size < least:
        raise _make_size_error(size, f"the value is below {least}, the minimum of a UserMessage with these Flags")
    return int(size) + (SESSION_HEADER_SIZE if flags & _SESSION_HEADER_FLAG else 0)


def _check_version_number(version: int, offset: int) -> None:
    if version != PACKET_VERSION_NUMBER:
        raise FormatError(
            "BaseHeader.VersionNumber",
            offset,
            BASE_HEADER_SPEC_SECTION,
            f"the value is 0x{version:02X} instead of 0x{PACKET_VERSION_NUMBER:02X}",
        )


def _check_packet_signature(signature: bytes, offset: int) -> None:
    """Check the bytes of Signature that have arrived. The error for a wrong byte does not depend on how many of the
    following bytes have arrived.
    """
    if signature == PACKET_SIGNATURE:
        return
    for place, (found, printed) in enumerate(zip(signature, PACKET_SIGNATURE, strict=False)):
        if found != printed:
            whole = PACKET_SIGNATURE.hex(" ")
            message = f"its byte {place} is 0x{found:02X} instead of 0x{printed:02X} (the signature is {whole})"
            raise FormatError("BaseHeader.Signature", offset, BASE_HEADER_SPEC_SECTION, message)


def _make_size_error(size: int, why: str) -> FormatError:
    return FormatError("BaseHeader.PacketSize", 8, BASE_HEADER_SPEC_SECTION, f"0x{size:X} {why}")
