"""What all records have in common: reading, building, named bits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self, overload

from reference_qm.codec.cursor import Cursor
from reference_qm.codec.errors import MisuseError


class Record(ABC):
    """One printed structure as a frozen record. ``build(parse(x)) == x`` for every x that parses."""

    __slots__ = ()

    SECTION: ClassVar[str]
    """Where the structure is printed."""

    @classmethod
    @abstractmethod
    def read(cls, cursor: Cursor) -> Self:
        """Read the structure at a cursor and step over it; FormatError when the bytes do not have it."""

    @abstractmethod
    def build(self) -> bytes:
        """Return the bytes; MisuseError when the record would not parse again."""

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse bytes that hold this structure and nothing else; raises FormatError."""
        cursor = Cursor(data)
        record = cls.read(cursor)
        cursor.finish(cls.__name__, cls.SECTION)
        return record


class Bits:
    """A read-only view of some bits of an integer field; bit 0 is the least significant."""

    __slots__ = ("_field", "mask", "shift")

    def __init__(self, shift: int, width: int = 1, of: str = "Flags") -> None:
        self.shift = shift
        self.mask = (1 << width) - 1
        self._field = of

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: object, owner: type) -> int: ...

    def __get__(self, record: object | None, owner: type) -> Self | int:
        """Return the bits of a record, right-aligned; the view itself when asked of the class."""
        if record is None:
            return self
        value: int = getattr(record, self._field)
        return value >> self.shift & self.mask


class Flagged:
    """Structures with a field of named bits."""

    __slots__ = ()

    @classmethod
    def flags(cls, **bits: int) -> int:
        """Make the field of bits from its printed names: ``UserHeader.flags(DQ=7, MP=1)``; the others are 0."""
        value = 0
        for name, bit in bits.items():
            view = vars(cls).get(name)
            if not isinstance(view, Bits):
                raise MisuseError(f"{cls.__name__} has no bits named {name}")
            if not 0 <= bit <= view.mask:
                raise MisuseError(f"{cls.__name__}.{name} holds 0 to {view.mask}, not {bit}")
            value |= bit << view.shift
        return value
