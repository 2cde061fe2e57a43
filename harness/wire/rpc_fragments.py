"""Build and parse fragments of requests and responses as bytes. Spec: C706 12.6.4.9, 12.6.4.10.

Almost every PDU of a run is a fragment without a sec_trailer. This module handles such a PDU with two structs. For
all other PDUs, scapy is used, which takes a hundred times as long.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from harness.wire.rpc import (
    FIRST_FRAGMENT_FLAG,
    LAST_FRAGMENT_FLAG,
    MAX_FRAGMENT_BYTES,
    PDU_HEADER_BYTES,
    REQUEST_HEADER_BYTES,
    VERIFICATION_TRAILER,
    dissect_rpc,
    read_byte_order,
    read_stub,
)

_RPC_MAJOR_VERSION, _OBJECT_UUID_FLAG = 5, 0x80
_REQUEST_PDU_TYPE, _RESPONSE_PDU_TYPE = 0, 2
_LITTLE_ENDIAN_DATA_REPRESENTATION = bytes([0x10, 0, 0, 0])
_HEADER_LAYOUTS = {order: Struct(mark + "4B4s2HI") for order, mark in (("little", "<"), ("big", ">"))}
_BODY_LAYOUTS = {order: Struct(mark + "I2H") for order, mark in (("little", "<"), ("big", ">"))}


class Fragment(NamedTuple):
    """A request or response, or a fragment of either. ``opnum`` is 0 for a response."""

    call_id: int
    pfc_flags: int
    cont_id: int
    opnum: int
    stub: bytes


def build_request_fragments(
    call_id: int, p_cont_id: int, opnum: int, stub: bytes, *, fragment: int = MAX_FRAGMENT_BYTES, flags: int = 0
) -> list[bytes]:
    """Return the fragments of a request, each of at most ``fragment`` bytes. Spec: C706 12.6.4.9."""
    return _build_fragments(_REQUEST_PDU_TYPE, call_id, p_cont_id, opnum, stub, fragment, flags)


def build_response_fragments(
    call_id: int, p_cont_id: int, stub: bytes, *, fragment: int = MAX_FRAGMENT_BYTES, flags: int = 0
) -> list[bytes]:
    """Return the fragments of a response. Spec: C706 12.6.4.10."""
    return _build_fragments(_RESPONSE_PDU_TYPE, call_id, p_cont_id, 0, stub, fragment, flags)


def _build_fragments(
    ptype: int, call_id: int, p_cont_id: int, opnum: int, stub: bytes, fragment: int, flags: int
) -> list[bytes]:
    room = (fragment - REQUEST_HEADER_BYTES) // 8 * 8
    starts = range(0, max(len(stub), 1), room)
    made = []
    for start in starts:
        place = (FIRST_FRAGMENT_FLAG if start == 0 else 0) | (LAST_FRAGMENT_FLAG if start == starts[-1] else 0)
        part = stub[start : start + room]
        size = REQUEST_HEADER_BYTES + len(part)
        header = _HEADER_LAYOUTS["little"].pack(
            _RPC_MAJOR_VERSION, 0, ptype, place | flags, _LITTLE_ENDIAN_DATA_REPRESENTATION, size, 0, call_id
        )
        made.append(header + _BODY_LAYOUTS["little"].pack(len(stub) - start, p_cont_id, opnum) + part)
    return made


def parse_fragment(data: bytes) -> Fragment:
    """Parse a request or response completely, and return it. Raise WireError if this fails."""
    if not consists_of_header_and_stub(data):
        packet = dissect_rpc(data)
        opnum = packet.payload.opnum if packet.ptype == _REQUEST_PDU_TYPE else 0
        return Fragment(packet.call_id, int(packet.pfc_flags), packet.payload.cont_id, opnum, read_stub(packet))
    order = read_byte_order(data)
    _, _, ptype, flags, _, _, _, call_id = _HEADER_LAYOUTS[order].unpack_from(data)
    _, cont_id, opnum = _BODY_LAYOUTS[order].unpack_from(data, PDU_HEADER_BYTES)
    return Fragment(call_id, flags, cont_id, opnum if ptype == _REQUEST_PDU_TYPE else 0, data[REQUEST_HEADER_BYTES:])


def consists_of_header_and_stub(data: bytes) -> bool:
    """Return whether the given bytes are a complete request or response that consists only of a header and a stub.

    Such a PDU is well-formed, so scapy can dissect it.
    """
    if len(data) < REQUEST_HEADER_BYTES:
        return False
    version, _, ptype, flags, _, size, auth_length, _ = _HEADER_LAYOUTS[read_byte_order(data)].unpack_from(data)
    known = (
        version == _RPC_MAJOR_VERSION
        and ptype in (_REQUEST_PDU_TYPE, _RESPONSE_PDU_TYPE)
        and not flags & _OBJECT_UUID_FLAG
    )
    return known and size == len(data) and not auth_length and VERIFICATION_TRAILER not in data
