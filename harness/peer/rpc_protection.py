"""Authenticate on a DCE/RPC connection of the tester: exchange tokens, and sign or encrypt requests and responses.

The only reused part of the reference is the providers in ``reference_qm.rpc``, which compute the tokens. This module
processes the PDUs independently. Spec: MS-RPCE 3.3.1.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.wire.rpc import PACKET_PRIVACY_LEVEL, REQUEST_HEADER_BYTES, SEC_TRAILER_BYTES
from harness.wire.rpc_trailer import (
    CALL_LEVEL,
    CONNECT_LEVEL,
    NEGOTIATE_AUTHENTICATION_TYPE,
    NTLM_AUTHENTICATION_TYPE,
    PACKET_LEVEL,
    STUB_ALIGNMENT_BYTES,
    SecTrailer,
    append_trailer,
    read_trailer,
    split_pdu,
)
from harness.wire.wire_error import WireError
from reference_qm.rpc.authentication import AuthLevel, PduSegments, SecurityContext, SecurityError

if TYPE_CHECKING:
    from harness.sut.sut import Sut

AUTHENTICATION_CONTEXT_ID = 0x6D71
"""The auth_context_id of the tester's connections."""
REASON_NOT_REPLAYABLE = "an RPC authentication, whose keys the tester chooses at random"
"""The source of random keys. Apart from these keys, a capture contains everything on which an authenticated connection
depends.
"""
MAX_AUTHENTICATION_LEGS, MAX_TOKEN_BYTES = 6, 5_000
"""The maximum number of tokens that the SUT may send in one authentication, and the maximum size of a token in int
bytes.
"""


@dataclass(eq=False)
class SecurityContextOfConnection:
    """The security context of a connection.

    ``uses_header_signing``: whether both sides use header signing. Pass the PDUs of each direction in the order on the
    wire, because each direction has a sequence number.
    """

    auth_type: int
    auth_level: int
    auth_context_id: int
    context: SecurityContext
    uses_header_signing: bool = False
    authentication_leg_count: int = 0

    @property
    def has_signatures(self) -> bool:
        """Whether the requests and responses have signatures."""
        return self.auth_level >= CALL_LEVEL

    @property
    def is_last_token_unanswered(self) -> bool:
        """Whether the client sends its last token in an rpc_auth_3, which has no answer (MS-RPCE 2.2.1.1.7)."""
        return self.auth_type == NTLM_AUTHENTICATION_TYPE

    def build_sec_trailer(self, token: bytes, pad: int = 0) -> SecTrailer:
        """Return the sec_trailer that a PDU of this context needs."""
        return SecTrailer(self.auth_type, self.auth_level, self.auth_context_id, token, pad)

    def owns_trailer(self, trailer: SecTrailer) -> bool:
        """Return whether a sec_trailer has the identifiers of this security context."""
        return trailer[:3] == (self.auth_type, self.auth_level, self.auth_context_id)

    def step(self, token: bytes) -> bytes:
        """Process a token from the SUT; return the next token, or raise SecurityError."""
        self.authentication_leg_count += 1
        if self.authentication_leg_count > MAX_AUTHENTICATION_LEGS or len(token) > MAX_TOKEN_BYTES:
            raise SecurityError(
                f"token {self.authentication_leg_count} has {len(token)} bytes; "
                f"at most {MAX_AUTHENTICATION_LEGS} tokens of {MAX_TOKEN_BYTES} bytes are accepted"
            )
        return self.context.process_token(token)

    def max_fragment_bytes(self, longest: int) -> int:
        """Return the maximum size (bytes) of an unprotected fragment that still has at most ``longest`` bytes after it
        was signed or encrypted.
        """
        if not self.has_signatures:
            return longest
        room = longest - REQUEST_HEADER_BYTES - SEC_TRAILER_BYTES - self.context.signature_size
        return REQUEST_HEADER_BYTES + room // STUB_ALIGNMENT_BYTES * STUB_ALIGNMENT_BYTES

    def protect(self, pdu: bytes) -> bytes:
        """Return a request or response after it was signed or encrypted as this security context requires."""
        if not self.has_signatures:
            return pdu
        pad = (REQUEST_HEADER_BYTES - len(pdu)) % STUB_ALIGNMENT_BYTES
        made = append_trailer(pdu, self.build_sec_trailer(bytes(self.context.signature_size), pad))
        header, body, trailer, _ = split_pdu(made)
        segments = PduSegments(header, body, trailer)
        if self.auth_level == PACKET_PRIVACY_LEVEL:
            body, signature = self.context.seal(segments, header_sign=self.uses_header_signing)
        else:
            signature = self.context.sign(segments, header_sign=self.uses_header_signing)
        return header + body + trailer + signature

    def open(self, pdu: bytes) -> bytes:
        """Return a request or response with its stub decrypted; raise WireError if the PDU is not genuine.

        Faults are sent without protection, and the authentication level connect requires no protection.
        """
        trailer = read_trailer(pdu)
        if not self.context.is_complete:
            raise WireError("the SUT made a call before its authentication succeeded")
        if trailer is None:
            if self.has_signatures:
                raise WireError(f"the PDU has no token, which authentication level {self.auth_level} requires")
            return pdu
        if not self.owns_trailer(trailer):
            raise WireError(
                f"the PDU names the security context {trailer[:3]}; "
                f"the negotiated context is {self.build_sec_trailer(b'')[:3]}"
            )
        if not self.has_signatures:
            return pdu
        header, body, head, token = split_pdu(pdu)
        segments, signature = PduSegments(header, body, head), token[: self.context.signature_size]
        try:
            if self.auth_level == PACKET_PRIVACY_LEVEL:
                body = self.context.unseal(segments, signature, header_sign=self.uses_header_signing)
            else:
                self.context.verify(segments, signature, header_sign=self.uses_header_signing)
        except SecurityError as error:
            raise WireError(str(error)) from error
        return header + body + head + token


def begin_protection(sut: Sut) -> SecurityContextOfConnection | None:
    """Return the security context of a new connection to the SUT, or None at authentication level none."""
    access = sut.file.rpc
    if access.user is None:
        return None
    sut.lose(REASON_NOT_REPLAYABLE)
    from reference_qm.shell.spnego_security import SpnegoInitiator  # the import takes long

    context = SpnegoInitiator(access.auth_type, access.level, access.user)
    return SecurityContextOfConnection(access.auth_type, access.level, AUTHENTICATION_CONTEXT_ID, context)


def accept_protection(sut: Sut, trailer: SecTrailer) -> SecurityContextOfConnection | None:
    """Return the security context that the first token from the SUT requests, or None if the peer has no such
    provider.
    """
    access = sut.file.rpc
    meant = {0: CONNECT_LEVEL, CALL_LEVEL: PACKET_LEVEL}.get(trailer.auth_level, trailer.auth_level)
    if (
        access.user is None
        or trailer.auth_type not in (NEGOTIATE_AUTHENTICATION_TYPE, NTLM_AUTHENTICATION_TYPE)
        or not CONNECT_LEVEL <= meant <= PACKET_PRIVACY_LEVEL
    ):
        return None
    sut.lose(REASON_NOT_REPLAYABLE)
    from reference_qm.shell.spnego_security import SpnegoAcceptor  # the import takes long

    context = SpnegoAcceptor(trailer.auth_type, AuthLevel(meant), (access.user,))
    return SecurityContextOfConnection(trailer.auth_type, trailer.auth_level, trailer.auth_context_id, context)
