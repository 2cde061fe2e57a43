"""Define PROPVARIANT, and the operation R_QMGetObjectProperties, whose stubs contain PROPVARIANTs.

Spec: MS-MQMQ 2.2.12 to 2.2.16; MS-MQMP 2.2.3.5, 3.1.4.9.

The stubs are built without scapy, so that a value may have an illegal form: it may have a wrong width, or may be
incomplete or empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from uuid import UUID

from harness.wire.wire_error import WireError


class VarType(IntEnum):
    """The type of a PROPVARIANT's value (VARENUM). Spec: MS-MQMQ 2.2.12."""

    EMPTY = 0
    NULL = 1
    I2 = 2
    I4 = 3
    BOOL = 11
    VARIANT = 12
    I1 = 16
    UI1 = 17
    UI2 = 18
    UI4 = 19
    I8 = 20
    UI8 = 21
    LPWSTR = 31
    BLOB = 65
    CLSID = 72
    VECTOR = 0x1000


VT_EMPTY, VT_NULL, VT_I2, VT_I4, VT_BOOL, VT_VARIANT = 0, 1, 2, 3, 11, 12
VT_I1, VT_UI1, VT_UI2, VT_UI4, VT_I8, VT_UI8 = 16, 17, 18, 19, 20, 21
VT_LPWSTR, VT_BLOB, VT_CLSID, VT_VECTOR = 31, 65, 72, 0x1000

NUMBER_BYTES_BY_VARTYPE = {
    VT_I1: 1,
    VT_UI1: 1,
    VT_I2: 2,
    VT_UI2: 2,
    VT_BOOL: 2,
    VT_I4: 4,
    VT_UI4: 4,
    VT_I8: 8,
    VT_UI8: 8,
}
"""int bytes: the size of a numeric value, by its type."""

PROPERTY_TYPES = {
    101: VT_CLSID,
    102: VT_CLSID,
    103: VT_LPWSTR,
    104: VT_UI1,
    105: VT_UI4,
    106: VT_I2,
    107: VT_UI4,
    108: VT_LPWSTR,
    109: VT_I4,
    110: VT_I4,
    111: VT_UI1,
    112: VT_UI4,
    113: VT_UI1,
}
"""The type of each queue property, by property identifier (PROPID_Q_*). Spec: MS-MQMQ 2.3.1, MS-MQMP 3.1.1.12."""

GET_OBJECT_PROPERTIES_OPNUM = 10
_DIRECT_QUEUE_FORMAT = 3


@dataclass(frozen=True, slots=True)
class PropVariant:
    """A PROPVARIANT. If ``unread_bytes`` is given, it replaces ``value``: it contains the bytes of the union member,
    which are aligned as the type requires.
    """

    type_number: int
    value: Any = 0
    unread_bytes: bytes | None = None


class StubBuilder:
    """A stub that is being built. It stores the functions that will write the targets of its pointers."""

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self.data = bytearray()
        self._pending_referent_writers: list[Callable[[], None]] = []

    def align(self, size: int) -> None:
        """Add padding up to a multiple of ``size``."""
        self.data += bytes(-len(self.data) % size)

    def number(self, size: int, value: int) -> None:
        """Write a number, aligned to its size."""
        self.align(size)
        self.data += (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def write_count_or_referent(self, value: int) -> None:
        """Write a count or a referent identifier, which has 4 bytes in NDR and 8 bytes in NDR64."""
        self.number(8 if self.wide else 4, value)

    def write_pointer(self, behind: Callable[[], None] | None) -> None:
        """Write a pointer. ``behind`` is the function that later writes the target of the pointer; None stands for
        a NULL pointer.
        """
        self.write_count_or_referent(0 if behind is None else 0x2_0000 + 4 * len(self.data))
        if behind is not None:
            self._pending_referent_writers.append(behind)

    def settle(self) -> None:
        """Write the targets of all pointers that have been written. Each target is followed by the targets of its
        own pointers.
        """
        while self._pending_referent_writers:
            first, *rest = self._pending_referent_writers
            self._pending_referent_writers = []
            first()
            self.settle()
            self._pending_referent_writers = rest

    # -- types of values ----------------------------------------------------------------------------------------

    def text(self, value: str) -> None:
        """Write a [string] value."""
        data = (value + "\0").encode("utf-16-le")
        for count in (len(data) // 2, 0, len(data) // 2):
            self.write_count_or_referent(count)
        self.data += data

    def write_array(self, size: int, values: Sequence[int]) -> None:
        """Write a conformant array of numbers."""
        self.write_count_or_referent(len(values))
        for value in values:
            self.number(size, value)

    def write_variant(self, value: PropVariant) -> None:
        """Write a PROPVARIANT, but not the targets of its pointers."""
        self.align(8)
        self.number(2, value.type_number)
        self.data += bytes(6)
        self.number(2, value.type_number)
        if self.wide:
            self.align(8)
        if value.unread_bytes is not None:
            self.align(len(value.unread_bytes) if len(value.unread_bytes) in (1, 2, 4, 8) else 1)
            self.data += value.unread_bytes
        elif value.type_number in NUMBER_BYTES_BY_VARTYPE:
            self.number(NUMBER_BYTES_BY_VARTYPE[value.type_number], value.value)
        elif value.type_number not in (VT_EMPTY, VT_NULL):
            self._write_referent(value)
        if self.wide:
            self.align(8)

    def _write_referent(self, variant: PropVariant) -> None:
        value = variant.value
        if variant.type_number == VT_LPWSTR:
            self.write_pointer(lambda: self.text(value))
        elif variant.type_number == VT_CLSID:
            self.write_pointer(lambda: self.guid(value))
        else:
            self.number(4, len(value))
            self.write_pointer(lambda: self._write_elements(variant.type_number & ~VT_VECTOR, value))

    def guid(self, value: UUID) -> None:
        """Write the bytes of a GUID."""
        self.align(4)
        self.data += value.bytes_le

    def _write_elements(self, vt: int, values: Sequence[Any]) -> None:
        if vt in NUMBER_BYTES_BY_VARTYPE or vt == VT_BLOB:
            self.write_array(NUMBER_BYTES_BY_VARTYPE.get(vt, 1), values)
            return
        self.write_count_or_referent(len(values))
        for value in values:
            if vt == VT_CLSID:
                self.guid(value)
            elif vt == VT_VARIANT:
                self.write_variant(value)
            else:
                self.write_pointer(lambda value=value: self.text(value))  # type: ignore[misc]


def build_get_object_properties_stub(
    wide: bool,
    name: str | UUID | tuple[UUID, int],
    identifiers: Sequence[int],
    variants: Sequence[PropVariant],
    *,
    kind: int = _DIRECT_QUEUE_FORMAT,
    suffix: int = 0,
) -> bytes:
    """Build the stub of R_QMGetObjectProperties for a queue. The QUEUE_FORMAT of the queue has the m_qft ``kind``, the
    m_SuffixAndFlags ``suffix``, and the given name: a direct name without ``DIRECT=``, a GUID, or an OBJECTID.
    """
    stub = StubBuilder(wide)

    def write_name() -> None:
        if isinstance(name, str):
            stub.write_pointer(lambda: stub.text(name))
            return
        guid, *number = name if isinstance(name, tuple) else (name,)
        stub.guid(guid)
        for one in number:
            stub.number(4, one)

    def build_queue_format() -> None:
        stub.align(8 if wide else 4)
        stub.data += bytes([kind, suffix, 0, 0])
        stub.align(8 if wide else 1)
        stub.number(1, kind)
        stub.align(8 if wide else 4)
        write_name()
        stub.align(8 if wide else 1)

    stub.align(8 if wide else 4)
    for _ in range(2):  # ObjType, and the discriminant with the same value
        stub.number(4, 1)
        if wide:
            stub.align(8)
    stub.write_pointer(build_queue_format)
    stub.settle()
    stub.number(4, len(identifiers))
    stub.write_array(4, identifiers)
    stub.write_count_or_referent(len(variants))
    for one in variants:
        stub.write_variant(one)
    stub.settle()
    return bytes(stub.data)


class Reader:
    """A reader of the types and values in an answer. It raises WireError if the answer is too short."""

    def __init__(self, data: bytes, wide: bool) -> None:
        self.data = data
        self.wide = wide
        self.at = 0

    def number(self, size: int) -> int:
        """Read a number, which is aligned to its size."""
        self.at += -self.at % size
        if self.at + size > len(self.data):
            raise WireError(f"{size} bytes are needed at offset {self.at}, but there are only {len(self.data)} bytes")
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def long(self) -> int:
        """Read a count or referent identifier, which has 4 bytes in NDR and 8 bytes in NDR64."""
        return self.number(8 if self.wide else 4)

    def text(self) -> str:
        """Read a [string] without its null character."""
        _, _, count = self.long(), self.long(), self.long()
        if not 0 < count <= (len(self.data) - self.at) // 2:
            raise WireError(
                f"a string of {count} characters at offset {self.at} does not fit into {len(self.data)} bytes"
            )
        self.at += 2 * count
        found = self.data[self.at - 2 * count : self.at].decode("utf-16-le", "replace")
        if found[-1] != "\0":
            raise WireError(f"{found!r} does not end with a null")
        return found[:-1]

    def guid(self) -> UUID:
        """Read the bytes of a GUID."""
        self.at += -self.at % 4
        if self.at + 16 > len(self.data):
            raise WireError(f"a GUID is needed at offset {self.at}, but there are only {len(self.data)} bytes")
        self.at += 16
        return UUID(bytes_le=self.data[self.at - 16 : self.at])


def read_object_properties(stub: bytes, wide: bool) -> tuple[list[PropVariant], int]:
    """Read the answer to R_QMGetObjectProperties, and return its variants and its return value. The types of the
    variants must be types of queue properties. Raise WireError for a malformed answer.
    """
    reader = Reader(stub, wide)
    placed: list[tuple[int, int]] = []
    for _ in range(min(reader.long(), 128)):
        reader.at += -reader.at % 8
        vt = reader.number(2)
        reader.at += 6
        if reader.number(2) != vt:
            raise WireError(f"the discriminant differs from vt {vt:#x}")
        if wide:
            reader.at += -reader.at % 8
        if vt in NUMBER_BYTES_BY_VARTYPE:
            placed.append((vt, reader.number(NUMBER_BYTES_BY_VARTYPE[vt])))
        elif vt in (VT_EMPTY, VT_NULL):
            placed.append((vt, 0))
        elif vt in (VT_LPWSTR, VT_CLSID):
            placed.append((vt, reader.long()))
        else:
            raise WireError(f"no property of a queue is of the type {vt:#x}")
        if wide:
            reader.at += -reader.at % 8
    behind: dict[int, Callable[[], Any]] = {VT_LPWSTR: reader.text, VT_CLSID: reader.guid}
    found = [
        PropVariant(vt, behind[vt]() if vt in behind and value else value if vt not in behind else None)
        for vt, value in placed
    ]
    result = reader.number(4)
    if reader.at != len(stub):
        raise WireError(f"{len(stub) - reader.at} bytes are left over")
    return found, result
