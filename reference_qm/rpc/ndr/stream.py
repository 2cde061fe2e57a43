"""Reads and writes the octet stream of a stub in NDR or NDR64. Spec: C706 14.1, 14.2; MS-RPCE 2.2.5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reference_qm.codec.format_error import FormatError
from reference_qm.rpc.octets import ByteOrder, OctetReader, OctetWriter
from reference_qm.rpc.rpc_errors import StubError

NeighbourFieldValues = Mapping[str, Any]
"""The values of the neighbouring fields or parameters, to which size_is, length_is and switch_is refer."""

_FIRST_REFERENT_IDENTIFIER = 0x00020000  # any nonzero number is allowed; a Windows client starts with this one


@dataclass(frozen=True, slots=True)
class StubEncoding:
    """The encoding of a stub.

    ``wide``: whether the encoding is NDR64 (8-byte pointers and counts, 4-byte enumerations) instead of NDR.
    ``order``: the byte order. ``strict``: whether a value outside its IDL range is refused.
    """

    wide: bool = False
    order: ByteOrder = "<"
    strict: bool = True

    @property
    def pointer_size(self) -> int:
        """The size in bytes of a referent identifier and of a count."""
        return 8 if self.wide else 4

    @property
    def enum_size(self) -> int:
        """The size in bytes of an enumeration (MS-RPCE 2.2.5.2)."""
        return 4 if self.wide else 2


class NdrReader(OctetReader):
    """Reads values from a stub."""

    ERROR: ClassVar[type[FormatError]] = StubError

    __slots__ = ("encoding", "full_referents")

    def __init__(self, stub: bytes, encoding: StubEncoding, section: str) -> None:
        super().__init__(stub, encoding.order, section)
        self.encoding = encoding
        self.full_referents: dict[int, tuple[object, Any]] = {}
        """The targets of full pointers: for each referent identifier, the type and the value of the target."""

    def read_count(self) -> int:
        """Read a maximum count, an offset or an actual count."""
        return self.read_number(self.encoding.pointer_size)


class NdrWriter(OctetWriter):
    """Writes values to a stub."""

    __slots__ = ("_referents", "encoding")

    def __init__(self, encoding: StubEncoding, where: str) -> None:
        super().__init__(encoding.order, where)
        self.encoding = encoding
        self._referents = 0

    def write_count(self, value: int) -> None:
        """Write a maximum count, an offset or an actual count."""
        self.write_number(self.encoding.pointer_size, value)

    def write_referent_identifier(self, present: bool) -> None:
        """Write the referent identifier of a pointer, or 0 for NULL."""
        identifier = 0
        if present:
            identifier = _FIRST_REFERENT_IDENTIFIER + 4 * self._referents
            self._referents += 1
        self.write_number(self.encoding.pointer_size, identifier)
