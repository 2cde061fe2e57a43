"""Reads and builds padding bytes. Any value is allowed on the wire, and every value is kept.

In a record, ``Padding`` is None (the default) for zeros up to the boundary; any other value is the padding bytes.
Spec: MS-MQMQ 2.2.18.1.4, 2.2.18.1.5.2, 2.2.19.3 (their value is not restricted; notes <1>, <2>, <8>).
"""

from __future__ import annotations

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import MisuseError


def omit_zero_padding(raw: bytes) -> bytes | None:
    """Convert padding bytes to the value that a record stores for them: None if all bytes are zero, otherwise the
    bytes.
    """
    return raw if any(raw) else None


def build_padding(size: int, padding: bytes | None, owner: str) -> bytes:
    """Return ``size`` padding bytes: zeros if ``padding`` is None, otherwise ``padding``."""
    if padding is None:
        return bytes(size)
    if len(padding) != size:
        raise MisuseError(f"{owner}.Padding takes {size} bytes, not {len(padding)}")
    return padding


def read_end_padding(cursor: ByteCursor, field: str, section: str) -> bytes | None:
    """Read the padding of a header that may be the last header of its packet: either no bytes, or the bytes up to a
    4-byte boundary.
    """
    gap = -cursor.offset % 4
    if gap and not cursor.remaining_bytes:
        return b""
    return cursor.read_nonzero_padding(4, field, section)


def build_end_padding(size: int, padding: bytes | None, owner: str) -> bytes:
    """Return the padding of a header that may be the last header of its packet: no bytes if ``padding`` is empty."""
    return b"" if padding == b"" else build_padding(size, padding, owner)
