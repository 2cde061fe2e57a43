"""Reads messages by the offsets of their fields, so that messages with wrong flags or sizes can also be judged.

Spec: MS-MQMQ 2.2.19.2, 2.2.19.3, 2.2.20. Each function returns None if it cannot find the field.
"""

from __future__ import annotations

from functools import lru_cache

from reference_qm.codec import (
    BaseHeader,
    FormatError,
    SecurityHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.record import Bits

PACKET_SIGNATURE = b"LIOR"
USER_HEADER_OFFSET = 16
USER_HEADER_FLAGS_OFFSET = 60
USER_HEADER_FIXED_END = 64
MESSAGE_SIZE_OFFSET = 32
"""The offset of MessageSize in the MessagePropertiesHeader."""
PROPERTIES_HEADER_FIXED_BYTES = 56
"""The size of the MessagePropertiesHeader without label, extension, body and padding, in bytes."""

BASE_HEADER_NAME, USER_HEADER_NAME, TRANSACTION_HEADER_NAME = "BaseHeader", "UserHeader", "TransactionHeader"
_FLAGS_TYPE_AND_SIZE_BY_HEADER: dict[str, tuple[type, int]] = {
    BASE_HEADER_NAME: (BaseHeader, 2),
    USER_HEADER_NAME: (UserHeader, 4),
    TRANSACTION_HEADER_NAME: (TransactionHeader, 4),
}
"""For each header, its class in the codec, and the size of its Flags in bytes."""


def is_user_message(data: bytes) -> bool:
    """Return whether the bytes begin like a UserMessage and contain its fixed fields."""
    return (
        len(data) >= USER_HEADER_FIXED_END
        and data.startswith(PACKET_SIGNATURE, 4)
        and not read_base_header_flags(data).IN
    )


def read_base_header_flags(data: bytes) -> BaseHeader:
    """Return a BaseHeader with the Flags that the given bytes contain; its other fields have default values."""
    return BaseHeader(Flags=int.from_bytes(data[2:4], "little"))


def read_packet_size(data: bytes) -> int:
    """Return PacketSize of the given bytes."""
    return int.from_bytes(data[8:12], "little")


def read_user_header_flags(data: bytes) -> UserHeader:
    """Return a UserHeader with the Flags that the given bytes contain; its other fields have default values."""
    return UserHeader(Flags=int.from_bytes(data[USER_HEADER_FLAGS_OFFSET:USER_HEADER_FIXED_END], "little"))


def find_flags_offset(data: bytes, header: str) -> int | None:
    """Return the offset of Flags in a header, or None if the header cannot be found."""
    if header == TRANSACTION_HEADER_NAME:
        return find_offset_after_user_header(data)
    return {BASE_HEADER_NAME: 2, USER_HEADER_NAME: USER_HEADER_FLAGS_OFFSET}[header]


def find_offset_after_user_header(data: bytes) -> int | None:
    """Return the offset of the first header after the UserHeader."""
    cursor = ByteCursor(data, USER_HEADER_OFFSET)
    try:
        UserHeader.read(cursor)
    except FormatError:
        return None
    return cursor.offset


def find_properties_header_offset(data: bytes) -> int | None:
    """Return the offset of the MessagePropertiesHeader, computed from the flags and sizes before it."""
    cursor = ByteCursor(data, USER_HEADER_OFFSET)
    try:
        user = UserHeader.read(cursor)
        if user.TH:
            TransactionHeader.read(cursor)
        if user.SH:
            SecurityHeader.read(cursor)
    except FormatError:
        return None
    return cursor.offset


@lru_cache(maxsize=64)
def parse_message_with_changed_flag(data: bytes, header: str, name: str, value: int) -> UserMessagePacket | None:
    """Parse malformed bytes after the named bits of Flags have been set to `value`; return the message, or None if the
    bytes are still malformed.
    """
    at = find_flags_offset(data, header)
    if at is None:
        return None
    record, size = _FLAGS_TYPE_AND_SIZE_BY_HEADER[header]
    bits: Bits = vars(record)[name]
    flags = int.from_bytes(data[at : at + size], "little") & ~(bits.mask << bits.shift) | value << bits.shift
    try:
        packet = parse_packet(data[:at] + flags.to_bytes(size, "little") + data[at + size :])
    except FormatError:
        return None
    return packet if isinstance(packet, UserMessagePacket) else None


def is_valid_after_flag_is_set(data: bytes, header: str, name: str, *values: int) -> bool:
    """Return whether malformed bytes are a valid message after the named bits of Flags have been set to one of the
    given values.
    """
    return any(parse_message_with_changed_flag(data, header, name, value) is not None for value in values)


@lru_cache(maxsize=64)
def parse_message_with_corrected_body_size(data: bytes, size: int) -> tuple[int, UserMessagePacket] | None:
    """Return MessageSize of malformed bytes, and the message that results when MessageSize is set to `size`; None if
    the bytes are still malformed.
    """
    header = find_properties_header_offset(data) if is_user_message(data) else None
    if header is None:
        return None
    at = header + MESSAGE_SIZE_OFFSET
    try:
        packet = parse_packet(data[:at] + size.to_bytes(4, "little") + data[at + 4 :])
    except FormatError:
        return None
    return (int.from_bytes(data[at : at + 4], "little"), packet) if isinstance(packet, UserMessagePacket) else None
