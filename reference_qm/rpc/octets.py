"""Reads and writes aligned integers in either byte order, and never reads past the last byte. Spec: C706 14.1,
14.2.
"""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import ClassVar, Literal, NoReturn
from uuid import UUID

from reference_qm.codec.format_error import FormatError, MisuseError
from reference_qm.rpc.rpc_errors import PduError

ByteOrder = Literal["<", ">"]
"""The byte order of integers that a data representation label states: "<" is little-endian, ">" is big-endian."""

_UNSIGNED_LAYOUTS = MappingProxyType({(o, 1 << i): struct.Struct(o + c) for o in "<>" for i, c in enumerate("BHIQ")})


class OctetReader:
    """A position in the bytes of one PDU or stub; it cannot move past the last byte.

    ``offset``: the number of bytes from the start, from which the alignment is computed. ``where``: the name of the
    current field, for error messages.
    """

    ERROR: ClassVar[type[FormatError]] = PduError

    __slots__ = ("_data", "end", "offset", "order", "section", "where")

    def __init__(self, data: bytes, order: ByteOrder, section: str, offset: int = 0, end: int | None = None) -> None:
        self._data = data
        self.order = order
        self.section = section
        self.where = section
        self.offset = offset
        self.end = len(data) if end is None else end

    @property
    def remaining(self) -> int:
        """The number of bytes that may still be read."""
        return self.end - self.offset

    def refuse(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise an error of the type that belongs to this reader. The message names the current field."""
        raise self.ERROR(self.where, self.offset if offset is None else offset, self.section, message)

    def skip_padding(self, boundary: int) -> None:
        """Skip padding, whose content is ignored (MS-RPCE 3.1.1.5.3.2.2.6)."""
        self.read_bytes(-self.offset % boundary)

    def read_bytes(self, size: int) -> bytes:
        """Read ``size`` bytes. Raise an error if fewer bytes are available."""
        start = self.offset
        stop = start + size
        if stop > self.end:
            self.refuse(f"the field needs {size} bytes, but only {self.end - start} are left")
        self.offset = stop
        return self._data[start:stop]

    def read_number(self, size: int) -> int:
        """Read an unsigned integer of 1, 2, 4 or 8 bytes at its natural alignment."""
        start = self.offset + (-self.offset % size)
        stop = start + size
        if stop > self.end:
            self.refuse(f"the field needs {size} bytes, but only {max(0, self.end - start)} are left")
        self.offset = stop
        value: int = _UNSIGNED_LAYOUTS[self.order, size].unpack_from(self._data, start)[0]
        return value

    def read_uuid(self) -> UUID:
        """Read a UUID, which has 16 bytes and is aligned to 4. Its first three fields have the byte order of the
        sender.
        """
        self.skip_padding(4)
        wire = self.read_bytes(16)
        return UUID(bytes_le=wire) if self.order == "<" else UUID(bytes=wire)

    def require_end(self, what: str) -> None:
        """Raise an error unless all bytes have been read."""
        if self.offset != self.end:
            self.where = what
            self.refuse(f"the data has {self.remaining} bytes too many")


class OctetWriter:
    """A growing sequence of bytes with the alignment that the reader expects. Padding bytes are zero. ``where``:
    the name of the current field, for error messages.
    """

    __slots__ = ("data", "order", "where")

    def __init__(self, order: ByteOrder, where: str) -> None:
        self.data = bytearray()
        self.order = order
        self.where = where

    def raise_misuse(self, message: str) -> NoReturn:
        """Raise MisuseError with a message that names the current field."""
        raise MisuseError(f"{self.where} {message}")

    def write_padding(self, boundary: int) -> None:
        """Write padding up to the next multiple of an alignment."""
        self.data += bytes(-len(self.data) % boundary)

    def write_number(self, size: int, value: int) -> None:
        """Write an unsigned integer of 1, 2, 4 or 8 bytes at its natural alignment."""
        data = self.data
        if gap := -len(data) % size:
            data += bytes(gap)
        try:
            data += _UNSIGNED_LAYOUTS[self.order, size].pack(value)
        except struct.error:
            self.raise_misuse(f"takes {size} bytes; {value!r} does not fit")

    def write_uuid(self, value: UUID) -> None:
        """Write a UUID."""
        self.write_padding(4)
        self.data += value.bytes_le if self.order == "<" else value.bytes
