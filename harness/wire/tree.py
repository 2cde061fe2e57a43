"""A packet as an indented text, for reports. What a SUT sent is escaped and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from scapy.packet import Packet

from harness.wire.layer import Bits, Layer, Word
from harness.wire.packets import dissect, dissect_ping
from harness.wire.wire_error import WireError

MOST_BYTES = 64
MOST_CHARACTERS = 256
MOST_ELEMENTS = 32


def dissection(data: bytes, ping: bool = False) -> str:
    """Return every field of a packet with its offset, or what is wrong when it cannot be dissected; never raises."""
    try:
        packet = dissect_ping(data) if ping else dissect(data)
    except WireError as error:
        return f"cannot be dissected: {error}"
    return tree(packet)


def tree(packet: Packet) -> str:
    """Return every field of a packet that is dissected already, with its offset."""
    lines: list[str] = []
    offset = 0
    for layer in packet.iterpayloads():
        lines.append(type(layer).__name__)
        lines += _fields(layer, offset, "  ")
        offset += len(layer.self_build())
    return "\n".join(lines)


def _fields(layer: Packet, start: int, indent: str) -> Iterator[str]:
    """Yield the lines of a layer that begins at ``start``. The offsets are those that rebuilding it meets."""
    words = {word.bits[-1][0].name: (name, word) for name, word in vars(type(layer)).items() if isinstance(word, Word)}
    built: Any = b""
    for field in layer.fields_desc:
        offset = start + len(built[0] if isinstance(built, tuple) else built)
        value = layer.getfieldval(field.name)
        if field.name in words:
            name, word = words[field.name]
            yield f"{indent}{name} = {getattr(layer, name):#0{2 + 2 * word.size}x}  @{offset:#x}"
            for bits, _ in word.bits:
                yield f"{indent}  {bits.name} = {layer.getfieldval(bits.name)}"
        elif not isinstance(field, Bits):
            yield from _field(field.name, value, field.sz, offset, indent)
        built = field.addfield(layer, built, value)


def _field(name: str, value: Any, size: int, offset: int, indent: str) -> Iterator[str]:
    """Yield the lines of one field; none for an absent one and for padding that is not there."""
    if value is None or (value == b"" and name.endswith("Padding")):
        return
    if isinstance(value, Layer):
        yield f"{indent}{name} ({type(value).__name__})  @{offset:#x}"
        yield from _fields(value, offset, indent + "  ")
    elif isinstance(value, list):
        yield f"{indent}{name}: {len(value)}"
        for element in value[:MOST_ELEMENTS]:
            yield from _field("-", element, 0, offset, indent + "  ")
            offset += len(element)
        if len(value) > MOST_ELEMENTS:
            yield f"{indent}  ... {len(value) - MOST_ELEMENTS} more"
    else:
        yield f"{indent}{name} = {_text(value, size)}  @{offset:#x}"


def _text(value: Any, size: int) -> str:
    if isinstance(value, int):
        return _number(value, size)
    if isinstance(value, UUID):
        return f"{{{value}}}"
    if isinstance(value, str):
        more = f"... ({len(value)} characters)" if len(value) > MOST_CHARACTERS else ""
        return repr(value[:MOST_CHARACTERS]) + more
    more = f"... ({len(value)} bytes)" if len(value) > MOST_BYTES else ""
    return (value[:MOST_BYTES].hex(" ") or "(empty)") + more


def _number(value: int, size: int) -> str:
    return f"{value:#0{2 + 2 * size}x}" + (f" ({value})" if value > 9 else "")
