"""Build and read RPC stubs from tables of parameters, in NDR or NDR64. Spec: C706 14; MS-RPCE 2.2.5.

The module uses scapy's NDR classes. Stubs are read strictly: WireError is raised for a stub that is too short or
too long, independent of scapy's configuration.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from scapy.config import conf
from scapy.fields import StrFixedLenField
from scapy.layers.dcerpc import (
    NDRAlign,
    NDRConformantArray,
    NDRConformantString,
    NDRConfVarStrLenField,
    NDRPacket,
    NDRPointer,
    NDRVaryingArray,
)
from scapy.packet import Packet, Padding, Raw

from harness.wire.rpc import Syntax, build_without_copies
from harness.wire.wire_error import DISSECTION_ERRORS, WireError

MAX_SHORT_STUB_BYTES = 512
"""int bytes: the maximum length of a stub whose dissected packet is reused for other stubs with the same bytes."""
NULL_HANDLE = bytes(20)
"""The context handle NULL: attributes (u32) followed by a nil UUID (C706 14.2.16.6)."""


class ExactLengthBytes(StrFixedLenField):
    """A field that must consist of exactly the announced number of bytes."""

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, bytes]:
        if len(s) < self.sz:
            raise struct.error(f"{self.name}: only {len(s)} of {self.sz} bytes are present")
        return super().getfield(pkt, s)  # type: ignore[no-any-return]


def Handle(name: str) -> NDRAlign:
    """Declare a context handle of 20 bytes, which is read as one value."""
    return NDRAlign(ExactLengthBytes(name, NULL_HANDLE, length=20), align=(4, 4))


def Guid(name: str) -> NDRAlign:
    """Declare a GUID of 16 bytes in the order of the wire, ``UUID.bytes_le``."""
    return NDRAlign(ExactLengthBytes(name, bytes(16), length=16), align=(4, 4))


class ConformantByteArray(NDRConfVarStrLenField):  # type: ignore[misc]
    """A conformant and varying array of bytes. All announced bytes must be present."""

    def __init__(self, name: str) -> None:
        super().__init__(name, b"", size_is=lambda pkt: pkt.max_count)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, NDRConformantArray]:
        rest, array = super().getfield(pkt, s)
        found, varying = octets(array) or b"", array.value[0]
        if not len(found) == varying.actual_count <= array.max_count:
            counts = f"actual_count {varying.actual_count}, max_count {array.max_count}"
            raise struct.error(f"{self.name}: {counts}, but {len(found)} bytes are present")
        return rest, array


def build_pointer(value: Any, referent: int = 0x0002_0000) -> NDRPointer | None:
    """Build a [unique] pointer to a value; the value None stands for a NULL pointer."""
    return None if value is None else NDRPointer(referent_id=referent, value=value)


def build_byte_array_pointer(
    data: bytes | None, *, max_count: int | None = None, actual_count: int | None = None
) -> NDRPointer | None:
    """Build a pointer to a conformant and varying array of bytes. Counts that are not given are computed from
    ``data``.
    """
    if data is None:
        return None
    varying = NDRVaryingArray(offset=0, actual_count=len(data) if actual_count is None else actual_count, value=data)
    count = len(data) if max_count is None else max_count
    return build_pointer(NDRConformantArray(max_count=count, value=[varying]))


def build_wide_string_pointer(text: str) -> NDRPointer:
    """Build a pointer to a [string] of UTF-16 characters, including its terminator. Spec: C706 14.3.4.2."""
    count = len(text.encode("utf-16-le")) // 2 + 1
    varying = NDRVaryingArray(offset=0, actual_count=count, value=text)
    made = build_pointer(NDRConformantArray(max_count=count, value=[varying]))
    assert made is not None
    return made


def octets(value: Any) -> bytes | None:
    """Return the bytes to which a pointer refers, or None for a NULL pointer. The pointer was built by
    ``build_byte_array_pointer`` or received in a stub.
    """
    while isinstance(value, NDRPointer | NDRConformantArray | NDRConformantString | NDRVaryingArray):
        value = value.value
        if isinstance(value, list):
            value = value[0] if value else b""
    return value


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of an interface: its opnum, and the packets that represent its stubs."""

    interface: Syntax
    opnum: int
    name: str
    section: str
    Request: type[NDRPacket]
    Response: type[NDRPacket]

    def build_request(self, wide: bool, **arguments: Any) -> bytes:
        """Return the stub of a request. Omitted arguments have default values."""
        return build_stub(self.Request(**arguments, ndr64=wide), wide)

    def build_response(self, wide: bool, **results: Any) -> bytes:
        """Return the stub of a response."""
        return build_stub(self.Response(**results, ndr64=wide), wide)

    def read_request(self, stub: bytes, wide: bool) -> Packet:
        """Return the dissected stub of a request. Raise WireError if the stub is malformed."""
        return read_stub(self.Request, stub, wide)

    def read_response(self, stub: bytes, wide: bool) -> Packet:
        """Return the dissected stub of a response. Raise WireError if the stub is malformed."""
        return read_stub(self.Response, stub, wide)


def operation(interface: Syntax, opnum: int, name: str, section: str, ins: list[Any], outs: list[Any]) -> Operation:
    """Declare an operation, given the fields of its request stub and of its response stub."""
    request = type(f"{name}_Request", (NDRPacket,), {"fields_desc": ins})
    response = type(f"{name}_Response", (NDRPacket,), {"fields_desc": outs})
    return Operation(interface, opnum, name, section, request, response)


def build_stub(packet: NDRPacket, wide: bool) -> bytes:
    """Return the bytes of a stub."""
    packet.ndr64, packet.ndrendian = wide, "little"
    return bytes(build_without_copies(packet))


def read_stub(kind: type[NDRPacket], stub: bytes, wide: bool) -> Packet:
    """Dissect a stub completely. Raise WireError if this fails.

    Short stubs with the same bytes, such as empty answers of reads, share one packet. This is safe because the
    harness never changes a received packet.
    """
    return _read_short_stub(kind, stub, wide) if len(stub) <= MAX_SHORT_STUB_BYTES else _dissect_stub(kind, stub, wide)


@lru_cache(maxsize=512)
def _read_short_stub(kind: type[NDRPacket], stub: bytes, wide: bool) -> Packet:
    return _dissect_stub(kind, stub, wide)


def _dissect_stub(kind: type[NDRPacket], stub: bytes, wide: bool) -> Packet:
    if not stub:
        if kind.fields_desc:
            raise WireError(f"{kind.__name__} has an empty stub")
        return kind(ndr64=wide)
    lenient, conf.debug_dissector = conf.debug_dissector, True
    try:
        packet = kind(stub, ndr64=wide, ndrendian="little")
    except DISSECTION_ERRORS as error:
        raise WireError(f"{kind.__name__}: {type(error).__name__}: {error}") from error
    finally:
        conf.debug_dissector = lenient
    if isinstance(packet.payload, Padding | Raw):
        raise WireError(f"{kind.__name__}: {len(packet.payload)} bytes are left over")
    size = len(_rebuild_stub(packet, wide))
    if size != len(stub):  # scapy shortens a truncated value, or invents the missing bytes
        raise WireError(f"{kind.__name__}: the stub has {len(stub)} bytes, but its content needs {size}")
    return packet


def _rebuild_stub(packet: Packet, wide: bool) -> bytes:
    packet.clear_cache()
    return build_stub(packet, wide)


def encode_guid(value: UUID) -> bytes:
    """Return the bytes of a GUID on the wire."""
    return value.bytes_le
