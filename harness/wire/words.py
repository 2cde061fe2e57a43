"""Define Words. A Word is a field of a specification that consists of bit fields, such as ``Flags``."""

from __future__ import annotations

from functools import cache
from typing import Any

from scapy.fields import BitField
from scapy.packet import Packet


class WordOfBitFields:
    """A field of a specification that consists of bit fields, such as ``Flags``. A Word is read and written as one
    number.

    ``layout`` lists the names of the bit fields as the specification prints them, starting at bit 0; ``PR:3`` stands
    for a bit field of three bits. ``defaults`` contains default values by name. A bit field without a default value
    defaults to 0. A default that is a function is called with the layer when the packet is built.
    """

    def __init__(self, size: int, layout: str, **defaults: Any) -> None:
        self.size = size
        self.bits: list[tuple[NamedBits, int]] = []
        shift = 0
        for part in layout.split():
            name, _, width = part.partition(":")
            first, last = shift == 0, shift + int(width or 1) == 8 * size
            ends = {"end_tot_size": -size} if first else {"tot_size": -size} if last else {}
            self.bits.append((NamedBits(name, defaults.pop(name, 0), int(width or 1), **ends), shift))
            shift += int(width or 1)
        self._bit_positions = [(one.name, at, (1 << one.size) - 1, one.default, one) for one, at in reversed(self.bits)]
        if shift != 8 * size or defaults:
            raise ValueError(
                f"the layout has {shift} bits in {size} bytes; defaults name the unknown bits {sorted(defaults)}"
            )

    @property
    def fields(self) -> list[BitField]:
        """The bit fields in the order that scapy uses, with the most significant bit first."""
        return [field for field, _ in reversed(self.bits)]

    def __set_name__(self, owner: type[Packet], name: str) -> None:
        self.name = name

    def split_number_into_bits(self, whole: int, values: dict[str, Any]) -> None:
        """Split a number into its bit fields, and store the value of each bit field in ``values`` under its name."""
        for name, shift, mask, _, _ in self._bit_positions:
            values[name] = whole >> shift & mask

    def join_bits_to_number(self, layer: Packet) -> int:
        """Return the number that consists of a layer's bit fields."""
        whole, given = 0, layer.fields
        for name, shift, mask, default, bits in self._bit_positions:
            value = given.get(name, default)
            if value:
                whole |= (value & mask) << shift
            elif value is None:
                whole |= (bits.i2m(layer, None) & mask) << shift
        return whole

    def __get__(self, layer: Packet | None, owner: type[Packet]) -> Any:
        if layer is None:
            return self
        return sum(field.i2m(layer, layer.getfieldval(field.name)) << shift for field, shift in self.bits)

    def __set__(self, layer: Packet, value: int) -> None:
        for field, shift in self.bits:
            layer.setfieldval(field.name, value >> shift & (1 << field.size) - 1)


class NamedBits(BitField):
    """One or more bits of a Word. If ``compute`` is given, the value None is replaced by a computed value when the
    packet is built.
    """

    __slots__ = ("compute",)

    def __init__(self, name: str, default: Any, size: int, **ends: int) -> None:
        self.compute = default if callable(default) else None
        super().__init__(name, None if callable(default) else default, size, **ends)

    def i2m(self, pkt: Packet, x: int | None) -> int:
        return int(self.compute(pkt)) if x is None and self.compute else super().i2m(pkt, x)


@cache
def list_words(layer: type[Packet]) -> dict[str, WordOfBitFields]:
    """Return the Words of a layer by name."""
    return {
        name: word for kind in layer.__mro__ for name, word in vars(kind).items() if isinstance(word, WordOfBitFields)
    }
