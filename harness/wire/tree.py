"""Show a packet as indented text, for reports. Bytes from a SUT are escaped, and long values are truncated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from scapy.packet import Packet

from harness.wire.layer import Layer
from harness.wire.packets import dissect, dissect_ping
from harness.wire.runs import list_field_runs
from harness.wire.wire_error import WireError
from harness.wire.words import WordOfBitFields

MAX_SHOWN_BYTES_OF_FIELD_VALUE = 64
MAX_SHOWN_VALUE_CHARACTERS = 256
MAX_SHOWN_LIST_ELEMENTS = 32


def format_dissection(data: bytes, ping: bool = False) -> str:
    """Return a text with every field of a packet and its offset, or with the error if the packet cannot be
    dissected. This function raises no exception.
    """
    try:
        packet = dissect_ping(data) if ping else dissect(data)
    except WireError as error:
        return f"cannot be dissected: {error}"
    return format_dissected_packet(packet)


def format_dissected_packet(packet: Packet) -> str:
    """Return a text with every field of an already dissected packet and its offset."""
    return "\n".join(line.text for line in list_dissection_lines(packet))


class TreeLine(NamedTuple):
    """A line of a dissection: the field that the line shows, and the offsets of the field.

    ``path`` contains the names from the header to the field, such as ``("UserHeader", "Flags", "DM")``; for a
    header, it contains only its name. ``start`` and ``end`` are int offsets in the packet; ``end`` is exclusive.
    For a bit, they are the offsets of its Word. An element of a list has no name, so its path ends with ``-``.
    """

    text: str
    path: tuple[str, ...]
    value: Any
    start: int
    end: int


def list_dissection_lines(packet: Packet) -> list[TreeLine]:
    """Return the lines of the text that ``format_dissected_packet`` returns for a packet."""
    lines: list[TreeLine] = []
    offset = 0
    for layer in packet.iterpayloads():
        name, size = type(layer).__name__, len(layer.self_build())
        lines.append(TreeLine(name, (name,), layer, offset, offset + size))
        lines += _list_layer_lines(layer, offset, "  ", (name,))
        offset += size
    return lines


def has_bytes_when_rebuilt(packet: Packet, data: bytes) -> bool:
    """Return whether the packet, rebuilt from its fields, has the given bytes. Only then are the offsets of its
    lines offsets in these bytes.
    """
    return b"".join(layer.self_build() for layer in packet.iterpayloads()) == data


def _list_layer_lines(layer: Packet, start: int, indent: str, path: tuple[str, ...]) -> Iterator[TreeLine]:
    """Yield the lines of a layer that begins at the offset ``start``. The offsets of its fields are offsets in the
    rebuilt bytes.
    """
    built = b""
    for field in list_field_runs(type(layer)):
        offset = start + len(built)
        if isinstance(field, WordOfBitFields):
            end, whole = offset + field.size, getattr(layer, field.name)
            built += bytes(field.size)
            named = (*path, field.name)
            yield TreeLine(
                f"{indent}{field.name} = {whole:#0{2 + 2 * field.size}x}  @{offset:#x}", named, whole, offset, end
            )
            for bits, _ in field.bits:
                bit = layer.getfieldval(bits.name)
                yield TreeLine(f"{indent}  {bits.name} = {bit}", (*named, bits.name), bit, offset, end)
        else:
            value = layer.getfieldval(field.name)
            built = field.addfield(layer, built, value)
            yield from _list_field_lines((*path, field.name), value, field.sz, offset, start + len(built), indent)


def _list_field_lines(
    path: tuple[str, ...], value: Any, size: int, start: int, end: int, indent: str
) -> Iterator[TreeLine]:
    """Yield the lines of one field. A missing field and missing padding have no lines."""
    name = path[-1]
    if value is None or (value == b"" and name.endswith("Padding")):
        return
    if isinstance(value, Layer):
        yield TreeLine(f"{indent}{name} ({type(value).__name__})  @{start:#x}", path, value, start, end)
        yield from _list_layer_lines(value, start, indent + "  ", path)
    elif isinstance(value, list):
        yield TreeLine(f"{indent}{name}: {len(value)}", path, value, start, end)
        at = start
        for element in value[:MAX_SHOWN_LIST_ELEMENTS]:
            yield from _list_field_lines((*path, "-"), element, 0, at, at + len(element), indent + "  ")
            at += len(element)
        if len(value) > MAX_SHOWN_LIST_ELEMENTS:
            more = f"{indent}  ... {len(value) - MAX_SHOWN_LIST_ELEMENTS} more"
            yield TreeLine(more, (*path, "-"), value[MAX_SHOWN_LIST_ELEMENTS:], at, end)
    else:
        yield TreeLine(f"{indent}{name} = {_format_value(value, size)}  @{start:#x}", path, value, start, end)


def _format_value(value: Any, size: int) -> str:
    if isinstance(value, int):
        return _format_number(value, size)
    if isinstance(value, UUID):
        return f"{{{value}}}"
    if isinstance(value, str):
        more = f"... ({len(value)} characters)" if len(value) > MAX_SHOWN_VALUE_CHARACTERS else ""
        return repr(value[:MAX_SHOWN_VALUE_CHARACTERS]) + more
    more = f"... ({len(value)} bytes)" if len(value) > MAX_SHOWN_BYTES_OF_FIELD_VALUE else ""
    return (value[:MAX_SHOWN_BYTES_OF_FIELD_VALUE].hex(" ") or "(empty)") + more


def _format_number(value: int, size: int) -> str:
    return f"{value:#0{2 + 2 * size}x}" + (f" ({value})" if value > 9 else "")
