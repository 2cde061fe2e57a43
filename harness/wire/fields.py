"""Define kinds of fields that scapy does not provide: computed fields, fields of limited size, fields that are
present only if a flag announces them, and padding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

from scapy.fields import Field, UUIDField
from scapy.packet import Packet

from harness.wire.layer import Layer, Structure
from harness.wire.wire_error import WireError

UTF16_NULL_TERMINATOR = b"\0\0"


def split_bytes(pkt: Packet, field: str, data: bytes, count: int) -> tuple[bytes, bytes]:
    """Split ``data`` after its first ``count`` bytes. Return the remaining bytes, then the first bytes. Raise
    WireError if ``data`` is shorter.
    """
    if count > len(data):
        raise WireError(f"{type(pkt).__name__}.{field} has {count} bytes, but only {len(data)} are left")
    return data[count:], data[:count]


@lru_cache(maxsize=1024)
def _get_guid(data: bytes) -> UUID:
    return UUID(bytes_le=data)


class GuidField(UUIDField):
    """A field with a GUID of 16 bytes, whose first three parts are little-endian (MS-DTYP 2.3.4.2). The value is a
    ``uuid.UUID``, which is zero by default.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, 0, UUIDField.FORMAT_LE)

    def m2i(self, pkt: Packet | None, x: bytes) -> UUID:
        return _get_guid(x)


class GuidFieldPresentIfFlagIsSet(UUIDField):
    """A field with a GUID that is read only if ``announced`` returns True. When the packet is built, a given GUID
    is written even if it is not announced.
    """

    __slots__ = ("announced",)

    def __init__(self, name: str, announced: Callable[[Packet], bool]) -> None:
        self.announced = announced
        super().__init__(name, None, UUIDField.FORMAT_LE)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        return s if val is None else super().addfield(pkt, s, val)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Any]:
        return super().getfield(pkt, s) if self.announced(pkt) else (s, None)


class ComputedField(Field):
    """An unsigned little-endian number; ``fmt`` is a format of struct. The default is None, which is replaced by a
    computed value when the packet is built.
    """

    __slots__ = ("compute",)

    def __init__(self, name: str, fmt: str, compute: Callable[[Packet], int]) -> None:
        self.compute = compute
        super().__init__(name, None, "<" + fmt)

    def i2m(self, pkt: Packet, x: int | None) -> int:
        return self.compute(pkt) if x is None else x


class BytesField(Field):
    """A field of ``size`` bytes, where ``size`` is a number or a function of the layer. When the packet is built,
    given bytes of any length are written unchanged.
    """

    __slots__ = ("size",)

    def __init__(self, name: str, size: int | Callable[[Packet], int], default: bytes = b"") -> None:
        self.size = size
        super().__init__(name, default, "<0s")

    def any2i(self, pkt: Packet | None, x: Any) -> bytes:
        if not isinstance(x, bytes | bytearray | Packet):
            raise TypeError(f"{self.name} must be bytes or a layer, not {type(x).__name__}")
        return bytes(x)

    def i2len(self, pkt: Packet, x: bytes) -> int:
        return len(x)

    def addfield(self, pkt: Packet, s: bytes, val: bytes) -> bytes:
        return s + val

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, bytes]:
        return split_bytes(pkt, self.name, s, self.size(pkt) if callable(self.size) else self.size)


class WideStringField(Field):
    """A null-terminated WCHAR buffer: UTF-16, little-endian.

    A value is a str without its terminator, or bytes. Given bytes are written unchanged. Received bytes that are
    not the encoding of a str remain bytes. ``size`` is a function of the layer that returns the size in bytes; if
    it is None, the buffer ends at its terminator. ``empty`` is the encoding of an empty str.
    """

    __slots__ = ("empty", "size")

    def __init__(self, name: str, size: Callable[[Packet], int] | None, empty: bytes = UTF16_NULL_TERMINATOR) -> None:
        self.size = size
        self.empty = empty
        super().__init__(name, "", "<0s")

    def any2i(self, pkt: Packet | None, x: Any) -> str | bytes:
        if not isinstance(x, str | bytes):
            raise TypeError(f"{self.name} must be str or bytes, not {type(x).__name__}")
        return x

    def i2m(self, pkt: Packet | None, x: str | bytes) -> bytes:
        if isinstance(x, bytes):
            return x
        return x.encode("utf-16-le", "surrogatepass") + UTF16_NULL_TERMINATOR if x else self.empty

    def m2i(self, pkt: Packet | None, x: bytes) -> str | bytes:
        if x and not x.endswith(UTF16_NULL_TERMINATOR):
            return x
        text = x.removesuffix(UTF16_NULL_TERMINATOR).decode("utf-16-le", "surrogatepass")
        return text if self.i2m(pkt, text) == x else x

    def i2len(self, pkt: Packet, x: str | bytes) -> int:
        return len(self.i2m(pkt, x))

    def addfield(self, pkt: Packet, s: bytes, val: str | bytes) -> bytes:
        return s + self.i2m(pkt, val)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, str | bytes]:
        count = self.size(pkt) if self.size else measure_terminated_string(pkt, self.name, s)
        if count % 2:
            raise WireError(f"{type(pkt).__name__}.{self.name}: {count} bytes are not a whole number of characters")
        rest, data = split_bytes(pkt, self.name, s, count)
        return rest, self.m2i(pkt, data)


def measure_terminated_string(pkt: Packet, field: str, data: bytes, start: int = 0) -> int:
    """Return the size in bytes of the null-terminated WCHAR buffer that begins at ``start``, including its
    terminator.
    """
    end = data.find(UTF16_NULL_TERMINATOR, start)
    while end >= 0 and (end - start) % 2:  # the zero bytes belong to two characters, so they are no terminator
        end = data.find(UTF16_NULL_TERMINATOR, end + 1)
    if end < 0:
        raise WireError(f"{type(pkt).__name__}.{field} has no terminator in the remaining {len(data) - start} bytes")
    return end + len(UTF16_NULL_TERMINATOR) - start


class PaddingField(Field):
    """Padding up to the next multiple of ``align``, counted from the start of the layer. The padding consists of
    zeros unless other bytes are given.

    Received padding may have any value (MS-MQMQ <1>, <2>, <8>, <10> to <13>), and is stored. ``printed`` is False if
    the specification does not print the padding as a field, but only demands that headers are aligned (MS-MQMQ
    2.2.19.1). Such padding may be missing at the end of a packet, where no header follows.
    """

    __slots__ = ("align", "printed")

    def __init__(
        self, name: str = "Padding", align: Callable[[Packet], int] = lambda layer: 4, *, printed: bool = True
    ) -> None:
        self.align = align
        self.printed = printed
        super().__init__(name, None, "<0s")

    def addfield(self, pkt: Layer, s: bytes, val: bytes | None) -> bytes:
        return s + (bytes(-(pkt.start + len(s)) % self.align(pkt)) if val is None else val)

    def getfield(self, pkt: Layer, s: bytes) -> tuple[bytes, bytes]:
        if not self.printed and pkt.is_rest_of_packet_empty(s):
            return s, b""
        position = pkt.start + len(pkt.original) - len(s)
        return split_bytes(pkt, self.name, s, -position % self.align(pkt))


class NestedField(Field):
    """A field that contains a structure. ``layout`` is the class of the structure, or a function that gets the
    layer and returns this class, or None if the layer has no structure.
    """

    __slots__ = ("layout",)

    holds_packets = 1

    def __init__(self, name: str, layout: type[Structure] | Callable[[Packet], Any], default: Any = None) -> None:
        self.layout = layout
        super().__init__(name, default, "<0s")

    def any2i(self, pkt: Packet | None, x: Any) -> Packet | None:
        if x is not None and not isinstance(x, Packet):
            raise TypeError(f"{self.name} must be a layer, not {type(x).__name__}")
        return x

    def addfield(self, pkt: Packet, s: bytes, val: Packet | None) -> bytes:
        return s if val is None else s + bytes(val)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Packet | None]:
        layout = self.layout if isinstance(self.layout, type) else self.layout(pkt)
        if layout is None:
            return s, None
        if not s:  # scapy would create a structure with default values
            raise WireError(f"{type(pkt).__name__}.{self.name}: {layout.__name__} is announced, but no byte is left")
        value = layout(s, _internal=1, _parent=pkt)
        return value.rest, value


def compute_length_of(name: str, unit: int = 1) -> Callable[[Packet], int]:
    """Return a function that computes the value of a ComputedField: the length of another field of the same layer, in
    units of ``unit`` bytes.
    """
    return lambda layer: layer.get_field(name).i2len(layer, layer.getfieldval(name)) // unit
