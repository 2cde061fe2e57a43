"""Defines the cursor with which all parsers read bytes. A cursor belongs to a part of a packet, and cannot read bytes
outside this part.
"""

from __future__ import annotations

from typing import Any

from reference_qm.codec.format_error import FormatError
from reference_qm.codec.layout import Layout, read_guid


class ByteCursor:
    """A read position in the bytes of a packet. The cursor belongs to a part of the packet, and cannot move past the
    end of this part.

    ``offset`` and ``end`` are int bytes from the start of the packet. Every header starts on a 4-byte boundary of the
    packet, so ``offset`` also serves to compute an alignment that a document defines "relative to the start of the
    header".
    """

    __slots__ = ("_data", "end", "offset")

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None) -> None:
        self._data = data
        self.offset = offset
        self.end = len(data) if end is None else end

    @property
    def remaining_bytes(self) -> int:
        """Return the number of bytes that may still be read."""
        return self.end - self.offset

    def unpack(self, layout: Layout) -> tuple[Any, ...]:
        """Read the fixed part of a structure, and return its values in wire order, with each GUID as a UUID."""
        start = self.offset
        stop = start + layout.size
        if stop > self.end:
            available = self.end - start
            raise FormatError(
                layout.find_incomplete_field(available),
                start,
                layout.section,
                f"{layout.owner} needs {layout.size} bytes, but only {available} are left",
            )
        self.offset = stop
        values: tuple[Any, ...] = layout.unpack_from(self._data, start)
        if not layout.guids:
            return values
        wire: list[Any] = list(values)
        for index in layout.guids:
            wire[index] = read_guid(wire[index])
        return tuple(wire)

    def read_bytes(self, size: int, field: str, section: str) -> bytes:
        """Read ``size`` bytes; raise FormatError when fewer bytes are left."""
        start = self.offset
        stop = start + size
        if stop > self.end:
            raise FormatError(
                field, start, section, f"the field needs {size} bytes, but only {self.end - start} are left"
            )
        self.offset = stop
        return self._data[start:stop]

    def read_alignment_padding(self, boundary: int, field: str, section: str) -> bytes:
        """Read and return the padding bytes up to the next multiple of ``boundary``."""
        return self.read_bytes(-self.offset % boundary, field, section)

    def read_nonzero_padding(self, boundary: int, field: str, section: str) -> bytes | None:
        """Read the padding bytes up to the next multiple of ``boundary``.

        Return None if all padding bytes are zero, because a record represents zero padding as None.
        """
        size = -self.offset % boundary
        if not size:
            return None
        raw = self.read_bytes(size, field, section)
        return raw if any(raw) else None

    def take_subcursor(self, size: int, field: str, section: str) -> ByteCursor:
        """Step over ``size`` bytes, and return a cursor that can read only these bytes."""
        start = self.offset
        if start + size > self.end:
            raise FormatError(
                field, start, section, f"the field needs {size} bytes, but only {self.end - start} are left"
            )
        self.offset = start + size
        return ByteCursor(self._data, start, self.offset)

    def read_wchars_up_to_marker(self, marker: bytes, field: str, section: str) -> bytes:
        """Read WCHARs up to and including ``marker`` (one WCHAR). Return the WCHARs before ``marker``."""
        start = self.offset
        found = self._data.find(marker, start, self.end)
        while found != -1 and (found - start) % 2:
            found = self._data.find(marker, found + 1, self.end)
        if found == -1:
            raise FormatError(
                field, start, section, f"the text has no terminating null in its {self.end - start} bytes"
            )
        self.offset = found + len(marker)
        return self._data[start:found]

    def require_end(self, field: str, section: str) -> None:
        """Raise FormatError if any bytes have not been read."""
        if self.offset != self.end:
            raise FormatError(field, self.offset, section, f"the data has {self.end - self.offset} bytes too many")
