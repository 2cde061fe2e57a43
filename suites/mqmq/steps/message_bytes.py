"""Read messages by the offsets of their fields, so that one whose flags or sizes are wrong is judged as well.

Spec: MS-MQMQ 2.2.19.2, 2.2.19.3, 2.2.20. Nothing here is believed that was not looked at: what cannot be found is None.
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
from reference_qm.codec.cursor import Cursor
from reference_qm.codec.record import Bits

SIGNATURE = b"LIOR"
USER_AT = 16
USER_FLAGS_AT = 60
SMALLEST_MESSAGE = 64

BASE, USER, TRANSACTION = "BaseHeader", "UserHeader", "TransactionHeader"
_FLAGS: dict[str, tuple[type, int]] = {
    BASE: (BaseHeader, 2),
    USER: (UserHeader, 4),
    TRANSACTION: (TransactionHeader, 4),
}
"""By header: its record and how many bytes its Flags have."""


def is_message(data: bytes) -> bool:
    """Return whether bytes begin as a UserMessage does, as far as its fixed fields go."""
    return len(data) >= SMALLEST_MESSAGE and data.startswith(SIGNATURE, 4) and not base_flags(data).IN


def base_flags(data: bytes) -> BaseHeader:
    """Return a BaseHeader of which only Flags means something."""
    return BaseHeader(Flags=int.from_bytes(data[2:4], "little"))


def user_flags(data: bytes) -> UserHeader:
    """Return a UserHeader of which only Flags means something."""
    return UserHeader(Flags=int.from_bytes(data[USER_FLAGS_AT:SMALLEST_MESSAGE], "little"))


def flags_at(data: bytes, header: str) -> int | None:
    """Return where the Flags of a header stand; None when the header cannot be found."""
    if header == TRANSACTION:
        return header_after_user(data)
    return {BASE: 2, USER: USER_FLAGS_AT}[header]


def header_after_user(data: bytes) -> int | None:
    """Return where the first header after the UserHeader stands."""
    cursor = Cursor(data, USER_AT)
    try:
        UserHeader.read(cursor)
    except FormatError:
        return None
    return cursor.offset


def properties_at(data: bytes) -> int | None:
    """Return where the MessagePropertiesHeader stands, by the flags and sizes before it."""
    cursor = Cursor(data, USER_AT)
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
def healed(data: bytes, header: str, name: str, value: int) -> UserMessagePacket | None:
    """Return the message that malformed bytes would be if some bits of Flags had another value; None for no message."""
    at = flags_at(data, header)
    if at is None:
        return None
    record, size = _FLAGS[header]
    bits: Bits = vars(record)[name]
    flags = int.from_bytes(data[at : at + size], "little") & ~(bits.mask << bits.shift) | value << bits.shift
    try:
        packet = parse_packet(data[:at] + flags.to_bytes(size, "little") + data[at + size :])
    except FormatError:
        return None
    return packet if isinstance(packet, UserMessagePacket) else None


def heals(data: bytes, header: str, name: str, *values: int) -> bool:
    """Return whether malformed bytes would be a message if some bits of Flags had one of other values."""
    return any(healed(data, header, name, value) is not None for value in values)
