"""Implements the simple types of NDR and NDR64. Spec: C706 14.2; MS-RPCE 2.2.5.2."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reference_qm.rpc.ndr.stream import NdrReader, NdrWriter, NeighbourFieldValues, StubEncoding


class NdrType(ABC):
    """A type of the interface definition, which reads and writes its values in every encoding.

    A value is read in two steps, in the order of its layout: ``read`` reads the inline part, and
    ``read_deferred_parts`` reads the targets of embedded pointers (C706 14.3.12.3). ``read_whole_value`` and
    ``write_whole_value`` carry out both steps.
    """

    __slots__ = ()

    @abstractmethod
    def get_alignment(self, encoding: StubEncoding) -> int:
        """Return the alignment of the type in bytes."""

    @abstractmethod
    def get_least_size(self, encoding: StubEncoding) -> int:
        """Return the minimum number of bytes that ``read`` consumes for a value. Array counts are checked with this
        number: a count is refused if its elements would need more bytes than are available.
        """

    @abstractmethod
    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        """Read the inline part of a value. Raise StubError for an invalid value."""

    @abstractmethod
    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        """Write the inline part of a value. Raise MisuseError for an invalid value."""

    def read_deferred_parts(self, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
        """Read the targets of embedded pointers, and return the complete value."""
        return value

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:  # noqa: B027 - most have none
        """Write the targets of the pointers that the value contains."""

    def read_whole_value(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        """Read a value and the targets of its pointers."""
        return self.read_deferred_parts(reader, self.read(reader, scope), scope)

    def write_whole_value(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        """Write a value and the targets of its pointers."""
        self.write(writer, value, scope)
        self.write_deferred_parts(writer, value, scope)

    def read_array_elements(self, reader: NdrReader, count: int, scope: NeighbourFieldValues) -> Any:
        """Read the inline parts of the elements of an array. Raise StubError if fewer bytes are available than the
        count requires.
        """
        least = self.get_least_size(reader.encoding)
        if count * least > reader.remaining:
            reader.refuse(f"{count} elements need at least {count * least} bytes, but only {reader.remaining} are left")
        return [self.read(reader, scope) for _ in range(count)]

    def write_array_elements(self, writer: NdrWriter, values: Any, scope: NeighbourFieldValues) -> None:
        """Write the inline parts of the elements of an array."""
        for value in values:
            self.write(writer, value, scope)


@dataclass(frozen=True, slots=True)
class UnsignedIntegerType(NdrType):
    """An unsigned integer of ``size`` bytes. ``limits`` is the IDL attribute range(low, high) of the integer."""

    size: int
    limits: tuple[int, int] | None = None

    def with_value_range(self, low: int, high: int) -> UnsignedIntegerType:
        """Return this type with the IDL attribute range (MS-RPCE 2.2.4.14.1)."""
        return UnsignedIntegerType(self.size, (low, high))

    def get_alignment(self, encoding: StubEncoding) -> int:
        return self.size

    def get_least_size(self, encoding: StubEncoding) -> int:
        return self.size

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> int:
        value = reader.read_number(self.size)
        strict = self.limits is not None and reader.encoding.strict
        if strict and self.limits is not None and not self.limits[0] <= value <= self.limits[1]:
            reader.refuse(
                f"the value is {value}, which is outside {self.limits[0]} to {self.limits[1]}",
                reader.offset - self.size,
            )
        return value

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if self.limits is not None and not self.limits[0] <= value <= self.limits[1]:
            writer.raise_misuse(f"is {value}, which is outside {self.limits[0]} to {self.limits[1]}")
        writer.write_number(self.size, value)


class OctetType(UnsignedIntegerType):
    """The type unsigned char or byte. An array of this type is read as bytes."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(1)

    def read_array_elements(self, reader: NdrReader, count: int, scope: NeighbourFieldValues) -> bytes:
        return reader.read_bytes(count)

    def write_array_elements(self, writer: NdrWriter, values: Any, scope: NeighbourFieldValues) -> None:
        writer.data += values


class WideCharacterType(UnsignedIntegerType):
    """The type wchar_t. An array of this type is read as str, which may contain lone surrogates."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(2)

    def read_array_elements(self, reader: NdrReader, count: int, scope: NeighbourFieldValues) -> str:
        return reader.read_bytes(2 * count).decode(_UTF_16_BY_BYTE_ORDER[reader.order], "surrogatepass")

    def write_array_elements(self, writer: NdrWriter, values: Any, scope: NeighbourFieldValues) -> None:
        writer.data += values.encode(_UTF_16_BY_BYTE_ORDER[writer.order], "surrogatepass")


class EnumerationType(NdrType):
    """An enumeration, which has 2 bytes in NDR and 4 bytes in NDR64. Its values are 0 to 0x7FFF (C706 14.2.4;
    MS-RPCE 2.2.5.2).
    """

    __slots__ = ()

    def get_alignment(self, encoding: StubEncoding) -> int:
        return encoding.enum_size

    def get_least_size(self, encoding: StubEncoding) -> int:
        return encoding.enum_size

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> int:
        value = reader.read_number(reader.encoding.enum_size)
        if value > _ENUM_MAX:
            reader.refuse(
                f"the value is {value}, which is too large for an enumeration",
                reader.offset - reader.encoding.enum_size,
            )
        return value

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if value > _ENUM_MAX:
            writer.raise_misuse(f"is {value}, which is too large for an enumeration")
        writer.write_number(writer.encoding.enum_size, value)


class Guid(NdrType):
    """A GUID or UUID. Spec: MS-DTYP 2.3.4."""

    __slots__ = ()

    def get_alignment(self, encoding: StubEncoding) -> int:
        return 4

    def get_least_size(self, encoding: StubEncoding) -> int:
        return 16

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> UUID:
        return reader.read_uuid()

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        writer.write_uuid(value)


_ENUM_MAX = 0x7FFF
_UTF_16_BY_BYTE_ORDER = {"<": "utf-16-le", ">": "utf-16-be"}

U8 = OctetType()
U16 = UnsignedIntegerType(2)
U32 = UnsignedIntegerType(4)
U64 = UnsignedIntegerType(8)
WCHAR = WideCharacterType()
ENUM = EnumerationType()
GUID = Guid()
