"""Implements arrays and strings of NDR and NDR64. Spec: C706 14.3.3, 14.3.4; MS-RPCE 2.2.5.3.2, 2.2.5.3.3,
3.1.1.5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reference_qm.rpc.ndr.stream import NdrReader, NdrWriter, NeighbourFieldValues, StubEncoding
from reference_qm.rpc.ndr.types import WCHAR, NdrType

ArraySizeAttribute = str | int
"""The value of a size_is or length_is: either the name of a neighbouring field or parameter, or a constant."""


def get_element_count_of_attribute(given: ArraySizeAttribute, scope: NeighbourFieldValues) -> int:
    """Return the value of a size_is or length_is, which is a number of elements."""
    return given if isinstance(given, int) else scope[given]


@dataclass(frozen=True, slots=True)
class FixedArray(NdrType):
    """An array of a fixed number of elements without pointers. The stub contains only the elements (C706 14.3.3.1)."""

    element: NdrType
    size: int

    def get_alignment(self, encoding: StubEncoding) -> int:
        return self.element.get_alignment(encoding)

    def get_least_size(self, encoding: StubEncoding) -> int:
        return self.size * self.element.get_least_size(encoding)

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        return self.element.read_array_elements(reader, self.size, scope)

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if len(value) != self.size:
            writer.raise_misuse(f"has {len(value)} elements, not {self.size}")
        self.element.write_array_elements(writer, value, scope)


@dataclass(frozen=True, slots=True)
class ConformantArray(NdrType):
    """An array with [size_is(n)]. A stub contains the maximum count, followed by that number of elements."""

    element: NdrType
    size_is: ArraySizeAttribute

    def get_alignment(self, encoding: StubEncoding) -> int:
        return max(encoding.pointer_size, self.element.get_alignment(encoding))

    def get_least_size(self, encoding: StubEncoding) -> int:
        return encoding.pointer_size

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        return self.read_elements(reader, reader.read_count(), scope)

    def read_elements(self, reader: NdrReader, maximum: int, scope: NeighbourFieldValues) -> Any:
        """Read the elements after a maximum count, which must equal the value of the correlated field."""
        wanted = get_element_count_of_attribute(self.size_is, scope)
        if maximum != wanted:
            reader.refuse(f"the array has the maximum count {maximum}, but {self.size_is} is {wanted}")
        reader.skip_padding(self.element.get_alignment(reader.encoding))
        return self.element.read_array_elements(reader, maximum, scope)

    def read_deferred_parts(self, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
        return _read_deferred_parts(self.element, reader, value, scope)

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        writer.write_count(len(value))
        self.write_elements(writer, value, scope)

    def write_elements(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        """Write the elements after the maximum count."""
        wanted = get_element_count_of_attribute(self.size_is, scope)
        if len(value) != wanted:
            writer.raise_misuse(f"has {len(value)} elements, but {self.size_is} is {wanted}")
        writer.write_padding(self.element.get_alignment(writer.encoding))
        self.element.write_array_elements(writer, value, scope)

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        _write_deferred_parts(self.element, writer, value, scope)


@dataclass(frozen=True, slots=True)
class ConformantVaryingArray(NdrType):
    """An array with [size_is(n), length_is(m)]. A stub contains the maximum count, the offset (0) and the actual
    count, followed by m elements.
    """

    element: NdrType
    size_is: ArraySizeAttribute
    length_is: ArraySizeAttribute

    def get_alignment(self, encoding: StubEncoding) -> int:
        return max(encoding.pointer_size, self.element.get_alignment(encoding))

    def get_least_size(self, encoding: StubEncoding) -> int:
        return 3 * encoding.pointer_size

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        maximum, actual = _read_counts(reader)
        for given, found, what in (
            (self.size_is, maximum, "has room for"),
            (self.length_is, actual, "has"),
        ):
            wanted = get_element_count_of_attribute(given, scope)
            if found != wanted:
                reader.refuse(f"{what} {found} elements, but {given} is {wanted}")
        reader.skip_padding(self.element.get_alignment(reader.encoding))
        return self.element.read_array_elements(reader, actual, scope)

    def read_deferred_parts(self, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
        return _read_deferred_parts(self.element, reader, value, scope)

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        size, length = (
            get_element_count_of_attribute(self.size_is, scope),
            get_element_count_of_attribute(self.length_is, scope),
        )
        if len(value) != length or length > size:
            writer.raise_misuse(f"has {len(value)} elements, but {self.length_is} is {length} of {size}")
        _write_counts(writer, size, length)
        writer.write_padding(self.element.get_alignment(writer.encoding))
        self.element.write_array_elements(writer, value, scope)

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        _write_deferred_parts(self.element, writer, value, scope)


@dataclass(frozen=True, slots=True)
class WideString(NdrType):
    """A [string] wchar_t[]: a conformant and varying string with a terminating null. Its Python value is a str
    without the null. ``max_characters``: the maximum number of characters, including the null.
    """

    max_characters: int

    def get_alignment(self, encoding: StubEncoding) -> int:
        return encoding.pointer_size

    def get_least_size(self, encoding: StubEncoding) -> int:
        return 3 * encoding.pointer_size + 2

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> str:
        _, actual = _read_counts(reader)
        if actual > self.max_characters:
            reader.refuse(f"the text has {actual} characters, more than {self.max_characters}")
        text: str = WCHAR.read_array_elements(reader, actual, scope)
        if text.find("\0") != len(text) - 1 or not text:
            reader.refuse("the text must have exactly one null, at its end")
        return text[:-1]

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        units = len(value.encode("utf-16-le", "surrogatepass")) // 2 + 1
        if "\0" in value or units > self.max_characters:
            writer.raise_misuse(
                f"takes up to {self.max_characters} characters and a null only at the end; it has {units}"
            )
        _write_counts(writer, units, units)
        WCHAR.write_array_elements(writer, value + "\0", scope)


def _read_counts(reader: NdrReader) -> tuple[int, int]:
    """Read maximum count, offset and actual count (MS-RPCE 3.1.1.5.3.2.1.7, 3.1.1.5.3.2.1.12)."""
    maximum, offset, actual = reader.read_count(), reader.read_count(), reader.read_count()
    if offset:
        reader.refuse(f"the array starts at element {offset} instead of 0")
    if actual > maximum:
        reader.refuse(f"the array has {actual} elements, more than the maximum count {maximum}")
    return maximum, actual


def _write_counts(writer: NdrWriter, maximum: int, actual: int) -> None:
    for count in (maximum, 0, actual):
        writer.write_count(count)


def _read_deferred_parts(element: NdrType, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
    if not isinstance(value, list):
        return value  # bytes and str contain no pointers
    return [element.read_deferred_parts(reader, one, scope) for one in value]


def _write_deferred_parts(element: NdrType, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
    if isinstance(value, list):
        for one in value:
            element.write_deferred_parts(writer, one, scope)
