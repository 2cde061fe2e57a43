"""Add sec_trailers to the bytes of DCE/RPC PDUs, remove sec_trailers, and split a PDU into its protected segments. This
module is written from the specification, independently of ``reference_qm.rpc``. Spec: MS-RPCE 2.2.2.1, 2.2.2.11; C706
13.2.6.
"""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple

from harness.wire.rpc import PDU_HEADER_BYTES, REQUEST_HEADER_BYTES, SEC_TRAILER_BYTES, get_rpc_kind
from harness.wire.wire_error import WireError

CONNECT_LEVEL, CALL_LEVEL, PACKET_LEVEL, INTEGRITY_LEVEL = 2, 3, 4, 5
"""The authentication levels (MS-RPCE 2.2.1.1.8)."""
NEGOTIATE_AUTHENTICATION_TYPE, NTLM_AUTHENTICATION_TYPE = 9, 10
"""The security providers (MS-RPCE 2.2.1.1.7)."""
HEADER_SIGN_FLAG = 0x04
"""The flag PFC_SUPPORT_HEADER_SIGN of binds, alter_contexts and their answers (MS-RPCE 2.2.2.3)."""
STUB_ALIGNMENT_BYTES = 16
OBJECT_UUID_BYTES, OBJECT_UUID_FLAG = 16, 0x80


class SecTrailer(NamedTuple):
    """A sec_trailer and the authentication token after it."""

    auth_type: int
    auth_level: int
    auth_context_id: int
    token: bytes = b""
    auth_pad_length: int = 0

    def build_sec_trailer_bytes(self, order: Literal["<", ">"] = "<") -> bytes:
        """Return the 8 bytes of the sec_trailer."""
        return struct.pack(
            order + "4BI", self.auth_type, self.auth_level, self.auth_pad_length, 0, self.auth_context_id
        )


class PduSegments(NamedTuple):
    """The segments of a PDU: header, body with its padding, sec_trailer, token."""

    header_bytes: bytes
    padded_body_bytes: bytes
    trailer: bytes
    token: bytes


def append_trailer(pdu: bytes, trailer: SecTrailer) -> bytes:
    """Return a little-endian PDU with a sec_trailer added after ``auth_pad_length`` zeros."""
    made = bytearray(pdu + bytes(trailer.auth_pad_length) + trailer.build_sec_trailer_bytes() + trailer.token)
    made[8:12] = struct.pack("<2H", len(made), len(trailer.token))
    return bytes(made)


def read_trailer(pdu: bytes) -> SecTrailer | None:
    """Return the sec_trailer of a complete PDU, or None if the PDU has none. Raise WireError if the trailer does
    not fit into the PDU.
    """
    order, length = _read_byte_order(pdu), read_auth_length(pdu)
    if not length:
        return None
    start = len(pdu) - length - SEC_TRAILER_BYTES
    if start < PDU_HEADER_BYTES:
        raise WireError(f"auth_len {length} and the sec_trailer do not fit into {len(pdu)} bytes")
    kind, level, pad, _, context = struct.unpack_from(order + "4BI", pdu, start)
    if start - pad < PDU_HEADER_BYTES:
        raise WireError(f"auth_pad_length {pad} does not fit into {len(pdu)} bytes")
    return SecTrailer(kind, level, context, pdu[len(pdu) - length :], pad)


def read_auth_length(pdu: bytes) -> int:
    """Return the size in bytes of the authentication token of a PDU."""
    found: int = struct.unpack_from(_read_byte_order(pdu) + "H", pdu, 10)[0]
    return found


def split_pdu(pdu: bytes) -> PduSegments:
    """Split a request or response that has a trailer into its segments. Raise WireError if the trailer does not fit
    into the PDU.
    """
    if read_trailer(pdu) is None:
        raise WireError("the PDU has no sec_trailer")
    end = len(pdu) - read_auth_length(pdu)
    start = end - SEC_TRAILER_BYTES
    size = REQUEST_HEADER_BYTES if get_rpc_kind(pdu) in ("request", "response") else PDU_HEADER_BYTES
    if get_rpc_kind(pdu) == "request" and pdu[3] & OBJECT_UUID_FLAG:
        size += OBJECT_UUID_BYTES
    if size > start:
        raise WireError(f"the sec_trailer at {start} is inside the header of {size} bytes")
    return PduSegments(pdu[:size], pdu[size:start], pdu[start:end], pdu[end:])


def _read_byte_order(pdu: bytes) -> Literal["<", ">"]:
    return "<" if pdu[4] >> 4 == 1 else ">"
