"""Faults that are derived from the packet layouts. In sent packets, one field gets a different value, and nothing
else changes.

A path names a field as printed (``SessionHeader.WindowSize``) or bits of a field (``InternalHeader.CS``). A
PingPacket has no headers, so the path of its fields names no header. Registering a fault with a path that no layout
contains raises a HarnessError. A packet without the header or the field is sent unchanged.

A fault changes the encoded bytes. So sizes and counts stay unchanged, and flags may announce headers that are
missing.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Literal, get_args, get_type_hints
from uuid import UUID

from harness.errors import HarnessError
from harness.faults.parts import replace_part
from harness.faults.primitives import PacketCondition, change_packets_of_kind, change_pings
from harness.faults.registry import EffectFilter, FaultyCore, Install, add
from reference_qm import codec
from reference_qm.codec import FormatError, Packet, PingPacket
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import GUID, I64, U8, U16, U32, Layout
from reference_qm.codec.record import Bits, Record
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.surface.effects import Effect, SendDatagram, SendPacket
from reference_qm.surface.inputs import PingSocket

PacketClass = type[Packet] | type[PingPacket]
FieldValue = int | bytes | UUID
ConversationRole = Literal["initiator", "acceptor"]
_BYTES_BY_TYPE_CODE = {U8: 1, U16: 2, U32: 4, I64: 8, GUID: 16}
_SIZE_FIELD_SUFFIXES = ("Size", "Length", "Count")
_UNUSED_BIT_PATTERN = re.compile(r"X\d+")


def set_field_value(kind: PacketClass, path: str, value: FieldValue, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sends a field, or bits of a field, with the given value. The value is an
    integer, a GUID or bytes, as the layout requires.
    """
    field = _resolve_field_path(kind, path)
    field.check(value)
    return _change_field(kind, field, lambda old: value, when)


def add_to_field(kind: PacketClass, path: str, by: int, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that adds an amount to an integer field of sent packets. The sum wraps around
    at the width of the field.
    """
    return change_number_in_field(kind, path, lambda old: old + by, when)


def change_number_in_field(
    kind: PacketClass, path: str, change: Callable[[int], int], when: PacketCondition = None
) -> Install:
    """Return an installer of a fault that computes an integer field of sent packets from the correct value. The
    result wraps around at the width of the field.
    """
    return _change_field(kind, _find_integer_field(kind, path), change, when)


def send_wrong_size(kind: PacketClass, path: str, by: int = 4, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sends a size, length or count that differs from the actual content."""
    if not path.endswith(_SIZE_FIELD_SUFFIXES):
        raise HarnessError(f"{path} is not a size, length or count")
    return add_to_field(kind, path, by, when)


def set_bits(kind: PacketClass, path: str, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sets the named bits of a field in sent packets."""
    bits = _find_bits_of_field(kind, path)
    return _change_field(kind, bits, lambda old: bits.mask, when)


def clear_bits(kind: PacketClass, path: str, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that clears the named bits of a field in sent packets."""
    return _change_field(kind, _find_bits_of_field(kind, path), lambda old: 0, when)


def invert_bits(kind: PacketClass, path: str, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that inverts the named bits of a field in sent packets."""
    return _change_field(kind, _find_bits_of_field(kind, path), lambda old: ~old, when)


def set_reserved_bits(kind: PacketClass, path: str, when: PacketCondition = None) -> Install:
    """Return an installer of a fault that sends a field with all reserved bits set: all bits of a Reserved field, or
    the unnamed bits of a Flags field.
    """
    field = _find_integer_field(kind, path)
    reserved = field.mask & ~_get_named_bit_mask(field)
    if not reserved:
        raise HarnessError(f"{path} has no reserved bits")
    return _change_field(kind, field, lambda old: old | reserved, when)


def refuse_packets_unless_field_is_zero(kind: type[Packet], path: str) -> Install:
    """Return an installer of a fault with which the receiver refuses packets if a field, or some bits of a field, are
    not zero. A correct receiver ignores the field or these bits.
    """
    _resolve_field_path(kind, path)
    header, _, name = path.partition(".")
    value = attrgetter(path)

    class Refusing(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            if getattr(packet, header, None) is not None and value(packet):
                raise FormatError(path, 0, "a fault", f"{name} is not zero")
            super().check_field_values(packet)

    return replace_part(Refusing)


NamedField = tuple[str, str | tuple[str, ...], str]
"""The type of the table entries for faults that refuse packets: the name of the fault, the rule or rules that the
fault breaks, and the path of the field.
"""


def register_refusal_faults(kind: type[Packet], *faults: NamedField) -> None:
    """Register faults for fields that the receiver must ignore. With such a fault, the receiver refuses packets in
    which the field is not zero.
    """
    for name, rule, path in faults:
        add(
            name,
            rule,
            f"The receiver refuses a packet whose {path} is not zero.",
            refuse_packets_unless_field_is_zero(kind, path),
        )


def register_set_bit_faults(kind: PacketClass, *faults: NamedField) -> None:
    """Register faults that set bits in sent packets, although these bits must be clear."""
    for name, rule, path in faults:
        add(name, rule, f"The sender sets {path} in a packet.", set_bits(kind, path))


def limit_to_sender_role(role: ConversationRole, install: Install) -> Install:
    """Limit a fault in sent packets to one role: the initiator, which connects and pings, or the acceptor."""

    def limit_filter_to_role(filter_: EffectFilter) -> EffectFilter:
        return lambda effect: filter_(effect) if _get_sender_role(effect) == role else [effect]

    def install_for_role(faulty: FaultyCore) -> None:
        installed = FaultyCore(faulty.core)
        install(installed)
        faulty.effect_filters += map(limit_filter_to_role, installed.effect_filters)

    return install_for_role


def _get_sender_role(effect: Effect) -> ConversationRole | None:
    if isinstance(effect, SendPacket):
        return "initiator" if effect.transport.startswith("out-") else "acceptor"
    if isinstance(effect, SendDatagram):
        return "initiator" if effect.socket is PingSocket.SOURCE else "acceptor"
    return None


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a layout, or some bits of the field. The bits are those of ``mask`` shifted left by ``shift``.
    ``mask`` is 0 if the field is not an integer.
    """

    header_names: tuple[str, ...]
    """The attributes that lead from the packet to the structure that contains the field."""
    record: type[Record]
    name: str
    type_code: str
    shift: int
    mask: int

    @property
    def size(self) -> int:
        """The size of the whole field in bytes."""
        return _get_size_of_type_code(self.type_code)

    def check(self, value: FieldValue) -> None:
        """Raise HarnessError if the field cannot contain the value."""
        if self.mask:
            fits = isinstance(value, int) and 0 <= value <= self.mask
        elif self.type_code == GUID:
            fits = isinstance(value, UUID)
        else:
            fits = isinstance(value, bytes) and len(value) == self.size
        if not fits:
            raise HarnessError(f"{self.record.__name__}.{self.name} cannot contain {value!r}")

    def change_in_packet(self, packet: Any, change: Callable[[Any], Any]) -> bytes:
        """Return the bytes of a packet in which the value of the field is changed."""
        data: bytes = packet.build()
        at = self._find_offset(packet)
        if at is None:
            return data
        return data[:at] + self._compute_changed_value(data[at : at + self.size], change) + data[at + self.size :]

    def _find_offset(self, packet: Any) -> int | None:
        """Return the offset of the field, or None if the packet does not contain the field."""
        start, holder = 0, packet
        for name in self.header_names:
            start += _sum_header_sizes_before(holder, name)
            holder = getattr(holder, name)
            if holder is None:
                return None
        read = _RecordingCursor(holder.build())
        self.record.read(read)
        for layout, offset in read.noted:
            if layout.owner == self.record.__name__ and self.name in layout.fields:
                codes = list(layout.fields.values())[: list(layout.fields).index(self.name)]
                return start + offset + sum(map(_get_size_of_type_code, codes))
        return None

    def _compute_changed_value(self, wire: bytes, change: Callable[[Any], Any]) -> bytes:
        if self.type_code == GUID:
            guid: UUID = change(UUID(bytes_le=wire))
            return guid.bytes_le
        if not self.mask:
            blob: bytes = change(wire)
            return blob
        whole = int.from_bytes(wire, "little")
        value: int = change(whole >> self.shift & self.mask) & self.mask
        return (whole & ~(self.mask << self.shift) | value << self.shift).to_bytes(self.size, "little")


class _RecordingCursor(ByteCursor):
    """A cursor that records each layout it reads, together with the layout's offset."""

    __slots__ = ("noted",)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.noted: list[tuple[Layout, int]] = []

    def unpack(self, layout: Layout) -> tuple[Any, ...]:
        self.noted.append((layout, self.offset))
        return super().unpack(layout)


def _change_field(kind: PacketClass, field: _Field, change: Callable[[Any], Any], when: PacketCondition) -> Install:
    if kind is PingPacket:
        return change_pings(lambda packet: field.change_in_packet(packet, change), when)
    return change_packets_of_kind(kind, lambda packet: field.change_in_packet(packet, change), when)  # type: ignore[arg-type] # all other packets


def _resolve_field_path(kind: PacketClass, path: str) -> _Field:
    """Return the field that a path names in the layouts; raise HarnessError if the layouts contain no such field."""
    *headers, name = path.split(".")
    record: Any = kind
    for header in headers:
        inner = _list_headers(record).get(header)
        if inner is None:
            known = ", ".join(_list_headers(record)) or "none"
            raise HarnessError(f"{path}: {record.__name__} has no header {header}; it has {known}")
        record = inner
    known_fields = _list_layout_fields().get(record.__name__, {})
    bits = vars(record).get(name)
    if isinstance(bits, Bits):
        return _Field(tuple(headers), record, bits.of, known_fields[bits.of], bits.shift, bits.mask)
    if name not in known_fields:
        known = ", ".join(known_fields) or "none"
        raise HarnessError(f"{path}: {record.__name__} has no field {name}; it has {known}")
    code = known_fields[name]
    mask = (1 << 8 * _get_size_of_type_code(code)) - 1 if code in (U8, U16, U32, I64) else 0
    return _Field(tuple(headers), record, name, code, 0, mask)


def _find_integer_field(kind: PacketClass, path: str) -> _Field:
    field = _resolve_field_path(kind, path)
    if not field.mask:
        raise HarnessError(f"{path} is not an integer")
    return field


def _find_bits_of_field(kind: PacketClass, path: str) -> _Field:
    field = _find_integer_field(kind, path)
    if path.endswith(f".{field.name}") or path == field.name:
        raise HarnessError(f"{path} names no bits of a field")
    return field


def _get_named_bit_mask(field: _Field) -> int:
    """Return the mask of the named bits of a field."""
    if field.name.startswith("Reserved"):
        return 0
    named = {name: one for name, one in vars(field.record).items() if isinstance(one, Bits) and one.of == field.name}
    if not named:
        return field.mask
    used = 0
    for name, one in named.items():
        if not _UNUSED_BIT_PATTERN.fullmatch(name):
            used |= one.mask << one.shift
    return used >> field.shift


def _list_headers(record: type) -> dict[str, type[Record]]:
    """Return the headers of a packet in wire order, or an empty list if the packet does not consist of headers."""
    found: dict[str, type[Record]] = {}
    hints = get_type_hints(record)
    for field in fields(record) if is_dataclass(record) else ():
        of = [one for one in get_args(hints[field.name]) or (hints[field.name],) if one is not type(None)]
        if len(of) != 1 or not isinstance(of[0], type) or not issubclass(of[0], Record):
            return {}
        found[field.name] = of[0]
    return found


def _sum_header_sizes_before(record: Any, name: str) -> int:
    """Return the total size in bytes of the headers before a given header."""
    names = [field.name for field in fields(record)]
    before = (getattr(record, one) for one in names[: names.index(name)])
    return sum(len(header.build()) for header in before if header is not None)


@cache
def _list_layout_fields() -> dict[str, dict[str, str]]:
    """Return the fields, with their types, of every structure for which the codec has a layout."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module in pkgutil.iter_modules(codec.__path__, f"{codec.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Layout):
                found[value.owner] |= value.fields
    return dict(found)


def _get_size_of_type_code(code: str) -> int:
    return _BYTES_BY_TYPE_CODE[code] if code in _BYTES_BY_TYPE_CODE else int(code.removesuffix("s"))
