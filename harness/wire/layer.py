"""The base classes of the scapy layers: strict where scapy is lenient.

Scapy silently turns bytes that it cannot dissect into ``Raw``. These layers raise WireError instead, independent of
scapy's configuration: a header that a flag announces must be present, and no bytes may remain. ``bytes()`` never
returns scapy's cache of the received bytes: bytes are always rebuilt from the fields.

A layer has only weak references to the layers below it. In scapy, a layer and its payload refer to each other, and so
do a structure and its layer: packets of 4 MB would stay in memory until the garbage collector runs, which counts
objects and not their bytes.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Iterator
from functools import cache
from typing import Any

from scapy.config import conf
from scapy.fields import BitField, Field
from scapy.packet import Packet

from harness.wire.wire_error import WireError

# Nothing is sent by scapy: no process that imports it need read the routes of this machine.
conf.route_autoload = conf.route6_autoload = False


class LayerBelow:
    """A weak reference from a layer to the layer that contains it; None if that layer no longer exists."""

    def __set_name__(self, owner: type[Layer], name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> Any:
        if layer is None:
            return self
        below = getattr(layer, self.name)
        return None if below is None else below()

    def __set__(self, layer: Layer, below: Packet | None) -> None:
        object.__setattr__(layer, self.name, None if below is None else weakref.ref(below))


class Layer(Packet):
    """A header of a packet. ``start``: the offset of its beginning, for the alignment of its padding (0 except in
    lists).
    """

    __slots__ = ("_parent", "_underlayer", "start")

    may_be_empty = False
    underlayer = LayerBelow()
    parent = LayerBelow()

    def __init__(self, _pkt: bytes = b"", *, start: int = 0, **fields: Any) -> None:
        self.start = start
        words = {name: fields.pop(name) for name in list_words(type(self)).keys() & fields.keys()}
        super().__init__(_pkt, **fields)
        for name, value in words.items():
            setattr(self, name, value)

    def __iter__(self) -> Iterator[Packet]:
        """Yield the layer itself: no field has several values, so building needs no copies."""
        yield self

    def clone_with(self, payload: Packet | None = None, **fields: Any) -> Packet:
        clone = super().clone_with(payload, **fields)
        clone.start = self.start
        return clone

    def next_layer(self) -> type[Layer] | None:
        """Return the class of the header that must follow this one; None at the end of the packet."""
        return self.after(type(self))

    def after(self, layer: type[Layer]) -> type[Layer] | None:
        """Return the class of the header that must follow ``layer``, which is this header or one after it."""
        return self.underlayer.after(layer) if isinstance(self.underlayer, Layer) else None

    def carries(self, header: type[Layer]) -> bool:
        """Return whether a header follows this one in its packet; structures in fields do not count."""
        return any(isinstance(layer, header) for layer in self.iterpayloads())

    def nothing_follows(self, rest: bytes) -> bool:
        """Return whether ``rest`` is empty or only the SessionHeader, which a message's PacketSize excludes."""
        below = self.parent or self.underlayer
        return below.nothing_follows(rest) if isinstance(below, Layer) else not rest

    def do_dissect(self, s: bytes) -> bytes:
        for part in _split_layer(type(self)):
            try:
                if isinstance(part, Word):
                    s = part.read(self, s)
                else:
                    s, self.fields[part.name] = part.getfield(self, s)
            except struct.error:
                raise WireError(f"{type(self).__name__}.{part.name}: only {len(s)} bytes left for it") from None
        self.explicit = 1
        return s

    def self_build(self) -> bytes:
        built = b""
        for part in _split_layer(type(self)):
            if isinstance(part, Word):
                built += part.build(self)
            else:
                built = part.addfield(self, built, self.getfieldval(part.name))
        return built

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
    """A part of a header.

    As a field of a header it leaves the following bytes in ``rest``; as a packet of its own, no bytes may follow.
    """

    __slots__ = ("rest",)

    def dissect(self, s: bytes) -> None:
        self.rest = self.post_dissect(self.do_dissect(s))
        if self.rest and self.parent is None:
            raise WireError(f"{len(self.rest)} bytes left over after {type(self).__name__}")


class Word:
    """A printed field that consists of bit fields, such as ``Flags``; it is read and written as one number.

    ``layout``: the printed names from bit 0 on, such as ``PR:3`` for three bits. ``defaults``: default values by name,
    else 0; a function of the layer is called when the packet is built.
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
        """The bit fields in scapy's order: the most significant first."""
        return [field for field, _ in reversed(self.bits)]

    def __set_name__(self, owner: type[Layer], name: str) -> None:
        self.name = name

    def read(self, layer: Layer, s: bytes) -> bytes:
        """Read the bits of a layer from the bytes at once, and return the remaining bytes; scapy would read each bit
        separately.
        """
        if len(s) < self.size:
            raise struct.error(f"{len(s)} of {self.size} bytes")
        whole = int.from_bytes(s[: self.size], "little")
        for bits, shift in reversed(self.bits):
            layer.fields[bits.name] = whole >> shift & (1 << bits.size) - 1
        return s[self.size :]

    def build(self, layer: Layer) -> bytes:
        """Return the bytes of a layer's bit fields."""
        whole, given = 0, layer.fields
        for bits, shift in self.bits:
            value = given.get(bits.name, bits.default)
            whole |= ((bits.i2m(layer, None) if value is None else value) & (1 << bits.size) - 1) << shift
        return whole.to_bytes(self.size, "little")

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> Any:
        if layer is None:
            return self
        return sum(field.i2m(layer, layer.getfieldval(field.name)) << shift for field, shift in self.bits)

    def __set__(self, layer: Layer, value: int) -> None:
        for field, shift in self.bits:
            layer.setfieldval(field.name, value >> shift & (1 << field.size) - 1)


class Bits(BitField):
    """One or more bits of a Word; with ``compute``, the value None is computed when the packet is built."""

    __slots__ = ("compute",)

    def __init__(self, name: str, default: Any, size: int, **ends: int) -> None:
        self.compute = default if callable(default) else None
        super().__init__(name, None if callable(default) else default, size, **ends)

    def i2m(self, pkt: Packet, x: int | None) -> int:
        return int(self.compute(pkt)) if x is None and self.compute else super().i2m(pkt, x)


@cache
def list_words(layer: type[Layer]) -> dict[str, Word]:
    """Return the Words of a layer by name."""
    return {name: word for kind in layer.__mro__ for name, word in vars(kind).items() if isinstance(word, Word)}


@cache
def _split_layer(layer: type[Layer]) -> tuple[Field | Word, ...]:
    """Return the fields of a layer in their order on the wire, with each Word in place of its bits."""
    words = {word.bits[-1][0].name: word for word in list_words(layer).values()}
    first_or_no_bits = [field for field in layer.fields_desc if field.name in words or not isinstance(field, Bits)]
    return tuple(words.get(field.name, field) for field in first_or_no_bits)
