"""Describes the fixed part of a structure: the names of its fields as the specification prints them, their offsets, and
a compiled ``struct.Struct``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any
from uuid import UUID

from reference_qm.codec.format_error import MisuseError

U8, U16, U32, I64, GUID = "B", "H", "I", "q", "guid"
NULL_GUID = UUID(int=0)


@lru_cache(maxsize=4096)  # every packet names one of the same few queue managers
def read_guid(wire: bytes) -> UUID:
    """Return the GUID that 16 bytes in wire order represent. Spec: MS-MQMQ 2.2.18.1.1."""
    return UUID(bytes_le=wire) if any(wire) else NULL_GUID


@lru_cache(maxsize=4096)
def build_guid(guid: UUID) -> bytes:
    """Return the 16 bytes of a GUID in wire order. Spec: MS-MQMQ 2.2.18.1.1."""
    return guid.bytes_le


@lru_cache(maxsize=4096)
def format_guid(guid: UUID) -> str:
    """Return a GUID as text in the form 8-4-4-4-12."""
    return str(guid)


class Layout:
    """The fixed part of a structure, which is little-endian and has no padding.

    Spec: MS-MQMQ 2.2.18. ``fields`` lists the fields in wire order: each specified name with its type, which is U8,
    U16, U32, I64, GUID, or a number of bytes such as "20s".
    """

    __slots__ = (
        "_byte_fields",
        "_field_ends",
        "_pack",
        "fields",
        "guids",
        "owner",
        "section",
        "size",
        "unpack_from",
        "values",
    )

    def __init__(self, owner: str, section: str, **fields: str) -> None:
        codes = ["16s" if code == GUID else code for code in fields.values()]
        compiled = struct.Struct("<" + "".join(codes))
        names = tuple(fields)
        self.fields = fields
        self.owner = owner
        self.section = section
        self.size = compiled.size
        self.unpack_from = compiled.unpack_from
        self.guids = tuple(i for i, code in enumerate(fields.values()) if code == GUID)
        self._pack = compiled.pack
        self._field_ends = [(name, struct.calcsize("<" + "".join(codes[: i + 1]))) for i, name in enumerate(names)]
        self._byte_fields = tuple((i, names[i], int(code[:-1])) for i, code in enumerate(codes) if code.endswith("s"))
        getter = attrgetter(*names)
        self.values: Callable[[object], Any] = getter if len(names) > 1 else lambda record: (getter(record),)

    def find_incomplete_field(self, available: int) -> str:
        """Return the name of the first field that is incomplete when only ``available`` bytes exist."""
        return next(f"{self.owner}.{name}" for name, end in self._field_ends if end > available)

    def pack(self, *values: Any) -> bytes:
        """Return the bytes of the given field values, which are in wire order. Raise MisuseError for a value that does
        not fit into its field.
        """
        wire = list(values)
        for index in self.guids:
            wire[index] = build_guid(wire[index])
        for index, name, size in self._byte_fields:
            if len(wire[index]) != size:
                raise MisuseError(f"{self.owner}.{name} takes {size} bytes, not {len(wire[index])}")
        try:
            return self._pack(*wire)
        except struct.error as error:
            raise MisuseError(f"{self.owner}: {error}") from error

    def build(self, record: object) -> bytes:
        """Return the bytes of a record, which must have an attribute with the name of each field."""
        return self.pack(*self.values(record))
