"""Protects requests and responses by padding, trailer, signature and encryption. Spec: MS-RPCE 2.2.2.11,
3.3.1.5.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from reference_qm.rpc.authentication import AuthLevel, ClientSecurity, PduSegments, SecurityContext, SecurityError
from reference_qm.rpc.bodies import Request, Response
from reference_qm.rpc.header import HEADER_SIZE, SEC_TRAILER_SIZE, Header, PfcFlags, SecTrailer
from reference_qm.rpc.pdu import Pdu

STUB_ALIGNMENT_BYTES = 16
"""The alignment of stub data before the sec_trailer (MS-RPCE 2.2.2.11)."""
CALL_HEADER_BYTES = 24
"""The number of bytes before the stub data of a request or response without an object UUID."""
_OBJECT_UUID_BYTES = 16
SECURITY_CONTEXT_ID = 1
"""The auth_context_id of a client. A client has only one security context per connection."""


@dataclass(slots=True, eq=False)
class NegotiatedSecurity:
    """A security context of a connection, with its negotiated parameters. Spec: MS-RPCE 3.3.1.1.2."""

    auth_type: int
    auth_level: int
    """The number of the authentication level on the wire."""
    level: AuthLevel
    auth_context_id: int
    context: SecurityContext
    header_sign: bool = False
    authentication_leg_count: int = 0
    failure_reason: str | None = None
    """The reason why calls in this security context are refused, or None if they are accepted."""

    def build_trailer(self, token: bytes, auth_pad_length: int = 0) -> SecTrailer:
        """Return the sec_trailer for a PDU of this security context."""
        return SecTrailer(self.auth_type, self.auth_level, self.auth_context_id, token, auth_pad_length)

    def owns_trailer(self, trailer: SecTrailer) -> bool:
        """Return whether the sec_trailer of a received PDU names this security context, with its negotiated type and
        level.
        """
        spoken = (trailer.auth_type, trailer.auth_level, trailer.auth_context_id)
        return spoken == (self.auth_type, self.auth_level, self.auth_context_id)

    def protect_pdu(self, pdu: Pdu) -> bytes:
        """Return the bytes of a request or response, signed or sealed according to the level."""
        assert isinstance(pdu.body, Request | Response)
        if not self.level.signs_each_pdu:
            return pdu.build()
        pad = -len(pdu.body.stub) % STUB_ALIGNMENT_BYTES
        wire = replace(pdu, sec_trailer=self.build_trailer(bytes(self.context.signature_size), pad)).build()
        segments = split_pdu_segments(wire)
        if self.level.encrypts_stub:
            body, signature = self.context.seal(segments, header_sign=self.header_sign)
        else:
            body, signature = segments.body, self.context.sign(segments, header_sign=self.header_sign)
        return segments.header + body + segments.sec_trailer + signature

    def unprotect_pdu(self, wire: bytes) -> Pdu:
        """Return a request or response after its signature is checked and its stub data is decrypted.

        Raise SecurityError for a wrong signature, and PduError for wrong padding.
        """
        segments = split_pdu_segments(wire)
        token = wire[len(wire) - Header.parse(wire).auth_length :]
        signature, rest = token[: self.context.signature_size], token[self.context.signature_size :]
        if any(rest):  # the provider fills unused space with zeros (MS-RPCE 2.2.2.11)
            raise SecurityError(f"the token is too long: {len(token)} bytes")
        if self.level.encrypts_stub:
            body = self.context.unseal(segments, signature, header_sign=self.header_sign)
        else:
            body = segments.body
            self.context.verify(segments, signature, header_sign=self.header_sign)
        return Pdu.parse(segments.header + body + segments.sec_trailer + token)

    def count_stub_bytes_per_fragment(self, fragment_bytes: int) -> int:
        """Return the number of stub bytes in each fragment except the last."""
        if not self.level.signs_each_pdu:
            return (fragment_bytes - CALL_HEADER_BYTES) // 8 * 8
        taken = CALL_HEADER_BYTES + SEC_TRAILER_SIZE + self.context.signature_size
        return (fragment_bytes - taken) // STUB_ALIGNMENT_BYTES * STUB_ALIGNMENT_BYTES


def begin_security_context(security: ClientSecurity) -> NegotiatedSecurity:
    """Return the security context of a client's new connection, before the first token is exchanged."""
    return NegotiatedSecurity(
        security.auth_type, security.level, security.level, SECURITY_CONTEXT_ID, security.initiate()
    )


def split_pdu_segments(wire: bytes) -> PduSegments:
    """Return the segments of a complete PDU of a call. The PDU must have a sec_trailer. A PDU without stub data has
    no body segment.
    """
    header = Header.parse(wire)
    start = len(wire) - header.auth_length - SEC_TRAILER_SIZE
    length = HEADER_SIZE
    if header.ptype in (Request.PTYPE, Response.PTYPE):
        length = CALL_HEADER_BYTES
        if header.ptype == Request.PTYPE and header.pfc_flags & PfcFlags.OBJECT_UUID:
            length += _OBJECT_UUID_BYTES
    length = min(length, start)
    return PduSegments(wire[:length], wire[length:start], wire[start : start + SEC_TRAILER_SIZE])


def build_call_fragments(
    stub: bytes, fragment_bytes: int, security: NegotiatedSecurity | None, make: Callable[[bytes, int, int], Pdu]
) -> bytes:
    """Return the fragments of a request or response, each with its own protection.

    ``make`` takes the stub data of a fragment, the number of remaining bytes (alloc_hint), and the flags of the
    fragment.
    """
    out = bytearray()
    for start, part, flags in _split_stub(stub, _count_stub_bytes_per_fragment(fragment_bytes, security)):
        pdu = make(part, len(stub) - start, flags)
        out += pdu.build() if security is None else security.protect_pdu(pdu)
    return bytes(out)


def _count_stub_bytes_per_fragment(fragment_bytes: int, security: NegotiatedSecurity | None) -> int:
    return (
        (fragment_bytes - CALL_HEADER_BYTES) // 8 * 8
        if security is None
        else security.count_stub_bytes_per_fragment(fragment_bytes)
    )


def _split_stub(stub: bytes, size: int) -> Iterator[tuple[int, bytes, int]]:
    for start in range(0, max(len(stub), 1), size):
        flags = PfcFlags.FIRST_FRAG if start == 0 else 0
        if start + size >= len(stub):
            flags |= PfcFlags.LAST_FRAG
        yield start, stub[start : start + size], flags
