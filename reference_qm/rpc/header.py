"""Parses and builds the common header and the security trailer of PDUs. Spec: C706 12.6.3.1; MS-RPCE 2.2.2.11."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc.octets import ByteOrder, OctetWriter
from reference_qm.rpc.rpc_errors import PduError

HEADER_SIZE = 16
RPC_VERS = 5
RPC_VERS_MINORS = (0, 1)
HEADER_SPEC_SECTION = "C706 12.6.3.1"
SEC_TRAILER_SIZE = 8


class PacketType(IntEnum):
    """The PTYPE of the connection-oriented protocol. Spec: C706 12.6.1; MS-RPCE 2.2.2.10."""

    REQUEST = 0
    RESPONSE = 2
    FAULT = 3
    BIND = 11
    BIND_ACK = 12
    BIND_NAK = 13
    ALTER_CONTEXT = 14
    ALTER_CONTEXT_RESP = 15
    AUTH3 = 16
    SHUTDOWN = 17
    CO_CANCEL = 18
    ORPHANED = 19


class PfcFlags:
    """The bits of pfc_flags. Spec: C706 12.6.3.1. In bind PDUs 0x04 is PFC_SUPPORT_HEADER_SIGN (MS-RPCE 2.2.2.3)."""

    FIRST_FRAG = 0x01
    LAST_FRAG = 0x02
    PENDING_CANCEL = 0x04
    SUPPORT_HEADER_SIGN = 0x04
    RESERVED_1 = 0x08
    CONC_MPX = 0x10
    DID_NOT_EXECUTE = 0x20
    MAYBE = 0x40
    OBJECT_UUID = 0x80


WHOLE_PDU_FLAGS = PfcFlags.FIRST_FRAG | PfcFlags.LAST_FRAG
LITTLE_ENDIAN_DREP = b"\x10\0\0\0"
"""The packed_drep for little-endian integers, ASCII characters and IEEE floats (C706 14.1)."""
_HEADER_LAYOUT_BY_BYTE_ORDER = {order: struct.Struct(order + "4B4s2HI") for order in ("<", ">")}
_BYTE_ORDER_BY_LABEL: dict[int, ByteOrder] = {0x00: ">", 0x10: "<"}


def get_byte_order(packed_drep: bytes) -> ByteOrder:
    """Return the byte order that a data representation label states. Raise PduError for an unknown byte order.
    Spec: C706 14.1. The representations of characters and floating-point numbers are ignored, because the
    interfaces contain no such values.
    """
    order = _BYTE_ORDER_BY_LABEL.get(packed_drep[0] & 0xF0)
    if order is None:
        raise PduError("packed_drep", 4, HEADER_SPEC_SECTION, f"{packed_drep[0]:#04x} is not an integer representation")
    return order


@dataclass(frozen=True, slots=True)
class Header:
    """The common header of PDUs.

    Spec: C706 12.6.3.1. 16 bytes: rpc_vers u8; rpc_vers_minor u8; PTYPE u8; pfc_flags u8; packed_drep 4 bytes;
    frag_length u16; auth_length u16; call_id u32. The integers have the byte order of packed_drep. ``ptype`` is the
    number on the wire, which may be unknown to PacketType.
    """

    ptype: int
    pfc_flags: int
    packed_drep: bytes
    frag_length: int
    auth_length: int
    call_id: int
    rpc_vers: int = RPC_VERS
    rpc_vers_minor: int = 0

    @property
    def order(self) -> ByteOrder:
        """The byte order of the PDU."""
        return get_byte_order(self.packed_drep)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read the header at the start of ``data``. Raise PduError for a truncated header or an unknown byte order."""
        if len(data) < HEADER_SIZE:
            raise PduError(
                "common header",
                0,
                HEADER_SPEC_SECTION,
                f"the header needs {HEADER_SIZE} bytes, but the PDU has {len(data)}",
            )
        vers, minor, ptype, flags, drep, size, auth, call_id = _HEADER_LAYOUT_BY_BYTE_ORDER[
            get_byte_order(data[4:8])
        ].unpack_from(data)
        return cls(ptype, flags, drep, size, auth, call_id, vers, minor)

    def build(self) -> bytes:
        """Return the bytes of the header. Raise MisuseError for a number that exceeds the width of its field."""
        numbers = self.rpc_vers, self.rpc_vers_minor, self.ptype, self.pfc_flags
        try:
            return _HEADER_LAYOUT_BY_BYTE_ORDER[self.order].pack(
                *numbers, self.packed_drep, self.frag_length, self.auth_length, self.call_id
            )
        except struct.error as error:
            raise MisuseError(f"common header: {error}") from error


@dataclass(frozen=True, slots=True)
class SecTrailer:
    """The sec_trailer and the authentication token that follows it.

    Spec: MS-RPCE 2.2.2.11. 8 bytes and the token: auth_type u8; auth_level u8; auth_pad_length u8; auth_reserved u8;
    auth_context_id u32; token auth_length bytes.
    """

    auth_type: int
    auth_level: int
    auth_context_id: int
    token: bytes
    auth_pad_length: int = 0

    @classmethod
    def parse(cls, data: bytes, header: Header) -> Self:
        """Read the sec_trailer at the end of a PDU. Raise PduError if the sec_trailer does not fit into the part of
        the PDU after the header.
        """
        start = header.frag_length - header.auth_length - SEC_TRAILER_SIZE
        if start < HEADER_SIZE:
            raise PduError(
                "auth_length", 10, HEADER_SPEC_SECTION, f"{header.auth_length} bytes do not fit into the PDU"
            )
        kind, level, pad, _ = data[start : start + 4]
        if start - pad < HEADER_SIZE:
            raise PduError("auth_pad_length", start + 2, HEADER_SPEC_SECTION, f"{pad} bytes do not fit into the PDU")
        context = int.from_bytes(data[start + 4 : start + 8], "little" if header.order == "<" else "big")
        return cls(kind, level, context, data[start + SEC_TRAILER_SIZE : header.frag_length], pad)

    def build(self, order: ByteOrder) -> bytes:
        """Return the bytes of the padding, the sec_trailer and the token."""
        writer = OctetWriter(order, "sec_trailer")
        for value in (self.auth_type, self.auth_level, self.auth_pad_length, 0):
            writer.write_number(1, value)
        writer.write_number(4, self.auth_context_id)
        return bytes(self.auth_pad_length) + bytes(writer.data) + self.token
