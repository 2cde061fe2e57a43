"""Defines the base class of the records, which parse and build structures, and the access to named bits of their
fields.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, Self

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import MisuseError


class Record:
    """A structure of the specification as a value object. ``parse(data).build() == data`` for all bytes ``data``
    that can be parsed.
    """

    __slots__ = ()

    SPEC_SECTION: ClassVar[str]
    """The section that specifies the structure."""

    @classmethod
    @abstractmethod
    def read(cls, cursor: ByteCursor) -> Self:
        """Read the structure at the position of a cursor, and move the cursor past the structure. Raise FormatError for
        malformed bytes.
        """

    @abstractmethod
    def build(self) -> bytes:
        """Return the bytes of the record; raise MisuseError when ``parse`` would refuse these bytes."""

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse bytes that contain only this structure; raise FormatError for malformed or leftover bytes."""
        cursor = ByteCursor(data)
        record = cls.read(cursor)
        cursor.require_end(cls.__name__, cls.SPEC_SECTION)
        return record


class Bits(property):
    """A read-only view of some bits of an integer field. Bit 0 is the least significant bit."""

    def __init__(self, shift: int, width: int = 1, of: str = "Flags") -> None:
        mask = (1 << width) - 1
        field = attrgetter(of)

        def extract_bits(record: Any) -> Any:
            return field(record) >> shift & mask

        def extract_bits_of_flags(record: Any) -> Any:
            return record.Flags >> shift & mask

        super().__init__(
            extract_bits_of_flags if of == "Flags" else extract_bits
        )  # nearly every record has such bits, and they are read often
        self.shift = shift
        self.mask = mask
        self.of = of


class RecordWithBitFlags:
    """A structure with a field that consists of named bits."""

    __slots__ = ()

    @classmethod
    def flags(cls, **bits: int) -> int:
        """Return a value for the field, with the given values in the named bits and 0 in all other bits, for example
        ``UserHeader.flags(DQ=7, MP=1)``.
        """
        owner: Any = cls
        return _build_flags(owner, tuple(bits.items()))


@lru_cache(maxsize=4096)  # every packet has one of the same few combinations
def _build_flags(owner: Any, bits: tuple[tuple[str, int], ...]) -> int:
    value = 0
    for name, bit in bits:
        view = vars(owner).get(name)
        if not isinstance(view, Bits):
            raise MisuseError(f"{owner.__name__} has no bits named {name}")
        if not 0 <= bit <= view.mask:
            raise MisuseError(f"{owner.__name__}.{name} accepts 0 to {view.mask}, not {bit}")
        value |= bit << view.shift
    return value
