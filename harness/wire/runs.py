"""Read and write consecutive fields of fixed size in one step, including groups of bit fields (Words). Scapy would read
each field separately and, after each field, copy all remaining bytes of the packet.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import TypeAlias

from scapy.fields import Field
from scapy.packet import Packet

from harness.wire.wire_error import WireError
from harness.wire.words import NamedBits, WordOfBitFields, list_words

_STRUCT_FORMAT_BY_SIZE = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The format character of the module struct for each size of a Word in bytes."""


class SingleField:
    """A field of any size that is read and written separately from its neighbors."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def read(self, layer: Packet, data: bytes) -> bytes:
        """Read the field from the start of the given bytes; return the remaining bytes."""
        field = self._field
        try:
            data, layer.fields[field.name] = field.getfield(layer, data)
        except struct.error:
            raise _build_missing_bytes_error(layer, field.name, data) from None
        return data

    def build(self, layer: Packet, built: bytes) -> bytes:
        """Return the bytes built so far, followed by the bytes of the field."""
        field = self._field
        return bytes(field.addfield(layer, built, layer.getfieldval(field.name)))


class FixedSizeRun:
    """A sequence of consecutive fields of fixed size, in which a group of bit fields (Word) counts as one field."""

    def __init__(self, parts: Iterable[Field | WordOfBitFields]) -> None:
        self._parts = tuple(parts)
        self._struct = struct.Struct("<" + "".join(map(_get_format, self._parts)))
        self._readers = [
            (
                part.name,
                None if isinstance(part, WordOfBitFields) or _inherits_field_method(part, "m2i") else part.m2i,
                part,
            )
            for part in self._parts
        ]
        self._writers = [
            (part.name, part, _inherits_field_method(part, "i2m")) if isinstance(part, Field) else (None, part, False)
            for part in self._parts
        ]

    def read(self, layer: Packet, data: bytes) -> bytes:
        """Read the fields from the start of the given bytes; return the remaining bytes."""
        if len(data) < self._struct.size:
            raise self._find_missing_bytes(layer, data)
        values = layer.fields
        for (name, convert, part), value in zip(self._readers, self._struct.unpack_from(data), strict=True):
            if convert is not None:
                values[name] = convert(layer, value)
            elif isinstance(part, WordOfBitFields):
                part.split_number_into_bits(value, values)
            else:
                values[name] = value
        return data[self._struct.size :]

    def _find_missing_bytes(self, layer: Packet, data: bytes) -> WireError:
        """Return the error for the first field that needs more bytes than are left."""
        for part in self._parts:
            size = part.size if isinstance(part, WordOfBitFields) else part.sz
            if len(data) < size:
                break
            data = data[size:]
        return _build_missing_bytes_error(layer, part.name, data)

    def build(self, layer: Packet, built: bytes) -> bytes:
        """Return the bytes built so far, followed by the bytes of the fields."""
        given, defaults = layer.fields, layer.default_fields
        numbers = [
            part.join_bits_to_number(layer)
            if name is None
            else value
            if plain and type(value := given.get(name, defaults[name])) is int
            else part.i2m(layer, given.get(name, defaults[name]))
            for name, part, plain in self._writers
        ]
        try:
            return built + self._struct.pack(*numbers)
        except struct.error:  # a value does not fit, and the error that scapy raises names the field
            return self._build_separately(layer, built)

    def _build_separately(self, layer: Packet, built: bytes) -> bytes:
        for part in self._parts:
            if isinstance(part, WordOfBitFields):
                built += part.join_bits_to_number(layer).to_bytes(part.size, "little")
            else:
                built = part.addfield(layer, built, layer.getfieldval(part.name))
        return built


FieldOrRunOfFields: TypeAlias = SingleField | FixedSizeRun


@cache
def list_parts_of_layer(layer: type[Packet]) -> tuple[FieldOrRunOfFields, ...]:
    """Return the parts of a layer in wire order. A part is a run of fields or a single field."""
    return tuple(_group_fields(list_field_runs(layer)))


def _group_fields(fields: Iterable[Field | WordOfBitFields]) -> Iterator[FieldOrRunOfFields]:
    for fixed, group in groupby(fields, _has_fixed_size):
        if fixed:
            yield FixedSizeRun(group)
        else:
            yield from map(SingleField, group)


@cache
def list_field_runs(layer: type[Packet]) -> tuple[Field | WordOfBitFields, ...]:
    """Return the fields of a layer in wire order. Each group of bit fields is represented by its Word."""
    words = {word.bits[-1][0].name: word for word in list_words(layer).values()}
    first_or_no_bits = [field for field in layer.fields_desc if field.name in words or not isinstance(field, NamedBits)]
    return tuple(words.get(field.name, field) for field in first_or_no_bits)


def _has_fixed_size(part: Field | WordOfBitFields) -> bool:
    """Return whether scapy's own methods read and write a field, the field has a fixed size, and it has the byte
    order of the packets.
    """
    if isinstance(part, WordOfBitFields):
        return part.size in _STRUCT_FORMAT_BY_SIZE
    little_endian = part.fmt[0] == "<" or part.sz == 1 or part.fmt[-1] == "s"
    return (
        little_endian
        and part.sz > 0
        and _inherits_field_method(part, "getfield")
        and _inherits_field_method(part, "addfield")
    )


def _inherits_field_method(field: Field, method: str) -> bool:
    """Return whether a field class inherits a given method of Field unchanged."""
    return getattr(type(field), method) is getattr(Field, method)


def _get_format(part: Field | WordOfBitFields) -> str:
    return _STRUCT_FORMAT_BY_SIZE[part.size] if isinstance(part, WordOfBitFields) else str(part.fmt[1:])


def _build_missing_bytes_error(layer: Packet, name: str, data: bytes) -> WireError:
    return WireError(f"{type(layer).__name__}.{name}: only {len(data)} bytes are left for this field")
