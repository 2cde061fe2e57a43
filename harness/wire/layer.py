"""The base of the scapy layers: strict where scapy is lenient.

Scapy turns what it cannot dissect into ``Raw`` without a word. These layers raise WireError instead, whatever scapy's
configuration says: a header that a flag promises must be there, and nothing may be left over. And they never answer
``bytes()`` from scapy's cache of the received bytes: what is rebuilt comes from the fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from scapy.config import conf
from scapy.fields import BitField
from scapy.packet import Packet

from harness.wire.wire_error import WireError

# Nothing is sent by scapy: no process that imports it need read the routes of this machine.
conf.route_autoload = conf.route6_autoload = False


class Layer(Packet):
    """A header of a packet. ``start``: where it begins, for the alignment of its padding (0 but in lists)."""

    __slots__ = ("start",)

    may_be_empty = False

    def __init__(self, _pkt: bytes = b"", *, start: int = 0, **fields: Any) -> None:
        self.start = start
        words = {name: fields.pop(name) for name in list(fields) if isinstance(getattr(type(self), name, None), Word)}
        super().__init__(_pkt, **fields)
        for name, value in words.items():
            setattr(self, name, value)

    def __iter__(self) -> Iterator[Packet]:
        """Yield the layer itself: no field stands for several values, so building needs no copy of everything."""
        yield self

    def clone_with(self, payload: Packet | None = None, **fields: Any) -> Packet:
        clone = super().clone_with(payload, **fields)
        clone.start = self.start
        return clone

    def next_layer(self) -> type[Layer] | None:
        """Return the class of the header that must follow this one; None at the end of the packet."""
        return self.after(type(self))

    def after(self, layer: type[Layer]) -> type[Layer] | None:
        """Return the class that must follow ``layer``, a header at or above this one; the layers below know."""
        return self.underlayer.after(layer) if isinstance(self.underlayer, Layer) else None

    def nothing_follows(self, rest: bytes) -> bool:
        """Return whether ``rest`` is at most the SessionHeader, which a message's PacketSize leaves out."""
        below = self.parent or self.underlayer
        return below.nothing_follows(rest) if isinstance(below, Layer) else not rest

    def do_dissect(self, s: bytes) -> bytes:
        for field in self.fields_desc:
            try:
                s, self.fields[field.name] = field.getfield(self, s)
            except struct.error:
                left = len(s[0] if isinstance(s, tuple) else s)
                raise WireError(f"{type(self).__name__}.{field.name}: only {left} bytes left for it") from None
        self.explicit = 1
        return s

    def do_dissect_payload(self, s: bytes) -> None:
        following = self.next_layer()
        if following is None:
            if s:
                raise WireError(f"{len(s)} bytes left over after {type(self).__name__}")
        elif s:
            self.add_payload(following(s, _internal=1, _underlayer=self))
        elif not following.may_be_empty:
            raise WireError(f"{following.__name__}: announced, but the packet ends after {type(self).__name__}")


class Structure(Layer):
    """A part of a header. As a field of one it leaves what follows in ``rest``; alone, nothing may follow."""

    __slots__ = ("rest",)

    def dissect(self, s: bytes) -> None:
        self.rest = self.post_dissect(self.do_dissect(s))
        if self.rest and self.parent is None:
            raise WireError(f"{len(self.rest)} bytes left over after {type(self).__name__}")


class Word:
    """A printed field that is made of bit fields, such as ``Flags``: reads and writes as one number.

    ``layout``: the printed names from bit 0 on, ``PR:3`` for three bits. ``defaults``: by name; 0 where none is given;
    a function of the layer instead of a number is asked when the packet is built.
    """

    def __init__(self, size: int, layout: str, **defaults: Any) -> None:
        self.size = size
        self.bits: list[tuple[Bits, int]] = []
        shift = 0
        for part in layout.split():
            name, _, width = part.partition(":")
            first, last = shift == 0, shift + int(width or 1) == 8 * size
            ends = {"end_tot_size": -size} if first else {"tot_size": -size} if last else {}
            self.bits.append((Bits(name, defaults.pop(name, 0), int(width or 1), **ends), shift))
            shift += int(width or 1)
        if shift != 8 * size or defaults:
            raise ValueError(f"{shift} bits in {size} bytes, defaults for unknown bits: {sorted(defaults)}")

    @property
    def fields(self) -> list[BitField]:
        """The bit fields as scapy wants them: the most significant first."""
        return [field for field, _ in reversed(self.bits)]

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> Any:
        if layer is None:
            return self
        return sum(field.i2m(layer, layer.getfieldval(field.name)) << shift for field, shift in self.bits)

    def __set__(self, layer: Layer, value: int) -> None:
        for field, shift in self.bits:
            layer.setfieldval(field.name, value >> shift & (1 << field.size) - 1)


class Bits(BitField):
    """One or more bits of a Word; None, where ``compute`` is given, is computed when the packet is built."""

    __slots__ = ("compute",)

    def __init__(self, name: str, default: Any, size: int, **ends: int) -> None:
        self.compute = default if callable(default) else None
        super().__init__(name, None if callable(default) else default, size, **ends)

    def i2m(self, pkt: Packet, x: int | None) -> int:
        return int(self.compute(pkt)) if x is None and self.compute else super().i2m(pkt, x)
