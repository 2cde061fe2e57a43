"""Implements security contexts of NTLM and SPNEGO with pyspnego, in pure Python. Spec: MS-NLMP 3.1, 3.2, 3.4;
MS-SPNG; RFC 4178.

Users are test users: names and passwords that a configuration lists.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import spnego
from spnego.exceptions import SpnegoError
from spnego.iov import BufferType

from reference_qm.rpc.authentication import (
    NO_SECURITY,
    AuthLevel,
    AuthType,
    ClientSecurity,
    PduSegments,
    SecurityContext,
    SecurityError,
    ServerSecurity,
)
from reference_qm.shell.ntlm_users import announce_users_to_ntlm_acceptor
from reference_qm.shell.rpc_user import User

SIGNATURE_SIZE = 16
"""The size in bytes of NTLMSSP_MESSAGE_SIGNATURE (MS-NLMP 2.2.2.9)."""
_SPNEGO_PROTOCOL_BY_AUTH_TYPE: Mapping[int, tuple[str, spnego.NegotiateOptions]] = MappingProxyType(
    {
        AuthType.WINNT: ("ntlm", spnego.NegotiateOptions.use_ntlm),
        AuthType.GSS_NEGOTIATE: ("negotiate", spnego.NegotiateOptions.use_negotiate),
    }
)
_SIGNING_REQUIREMENTS = (
    spnego.ContextReq.integrity | spnego.ContextReq.replay_detect | spnego.ContextReq.sequence_detect
)
_REQUIRED_SERVICES_BY_AUTH_LEVEL: Mapping[AuthLevel, spnego.ContextReq] = MappingProxyType(
    {
        AuthLevel.CONNECT: spnego.ContextReq.none,
        AuthLevel.PKT: _SIGNING_REQUIREMENTS,
        AuthLevel.PKT_INTEGRITY: _SIGNING_REQUIREMENTS,
        AuthLevel.PKT_PRIVACY: _SIGNING_REQUIREMENTS | spnego.ContextReq.confidentiality,
    }
)
"""The services that the provider must offer for each authentication level (MS-RPCE 3.3.1.5.2.2). NTLM detects replays
only if it signs.
"""
_TOKEN_ERRORS = (
    *(SpnegoError, struct.error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError),
    *(StopIteration, AssertionError, EOFError),
)
"""The exceptions that pyspnego raises for malformed tokens, which it parses with struct, enum and its own ASN.1
parser.
"""


def make_server_security(users: Iterable[User], least_level: AuthLevel = AuthLevel.NONE) -> ServerSecurity:
    """Return the server security that authenticates the given users by NTLM and SPNEGO.

    Without users, the server accepts no client.
    """
    known = tuple(users)
    if not known:
        return NO_SECURITY

    def accept_client(auth_type: int, level: AuthLevel) -> SecurityContext | None:
        return SpnegoAcceptor(auth_type, level, known) if auth_type in _SPNEGO_PROTOCOL_BY_AUTH_TYPE else None

    return ServerSecurity(accept_client, least_level)


def make_client_security(auth_type: AuthType, level: AuthLevel, user: User) -> ClientSecurity:
    """Return the security with which a client authenticates as a user."""
    return ClientSecurity(auth_type, level, lambda: SpnegoInitiator(auth_type, level, user))


class SpnegoContext:
    """A security context of pyspnego, which is created when the first token is exchanged."""

    def __init__(self, make: Callable[[], spnego.ContextProxy]) -> None:
        self._create_context = make
        self._context: spnego.ContextProxy | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the context is complete."""
        return self._context is not None and self._context.complete

    @property
    def identity(self) -> str:
        """The authenticated user, or an empty text on the client's side."""
        return "" if self._context is None else self._context.client_principal or ""

    @property
    def signature_size(self) -> int:
        """The size in bytes of a signature."""
        return SIGNATURE_SIZE

    def process_token(self, token: bytes) -> bytes:
        """Handle a token from the remote side, and return the token to send."""
        with _convert_pyspnego_errors("the token is refused"):
            if self._context is None:
                self._context = self._create_context()
            return self._context.step(token or None) or b""

    def sign(self, segments: PduSegments, *, header_sign: bool) -> bytes:
        """Return the signature of the whole PDU.

        With extended session security, NTLM also signs the read-only segments, whether or not header signing was
        negotiated. Windows, Samba and impacket do the same.
        """
        with _convert_pyspnego_errors("the message cannot be signed"):
            return self._complete_context.sign(b"".join(segments))

    def verify(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> None:
        """Check the signature of the whole PDU."""
        with _convert_pyspnego_errors("the signature is wrong"):
            self._complete_context.verify(b"".join(segments), signature)

    def seal(self, segments: PduSegments, *, header_sign: bool) -> tuple[bytes, bytes]:
        """Encrypt the body, and sign the whole PDU."""
        with _convert_pyspnego_errors("the message cannot be sealed"):
            buffers = self._complete_context.wrap_iov([*_build_iov_buffers(segments), BufferType.header]).buffers
            return buffers[1].data or b"", buffers[3].data or b""

    def unseal(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> bytes:
        """Decrypt the body, and check the signature of the whole PDU."""
        with _convert_pyspnego_errors("the signature is wrong"):
            parts = [*_build_iov_buffers(segments), (BufferType.header, signature)]
            return self._complete_context.unwrap_iov(parts).buffers[1].data or b""

    @property
    def _complete_context(self) -> spnego.ContextProxy:
        if self._context is None or not self._context.complete:
            raise SecurityError("the security context is not complete")
        return self._context


class SpnegoInitiator(SpnegoContext):
    """A client's security context, which authenticates a user."""

    def __init__(self, auth_type: AuthType, level: AuthLevel, user: User) -> None:
        protocol, options = _SPNEGO_PROTOCOL_BY_AUTH_TYPE[auth_type]
        super().__init__(
            lambda: spnego.client(
                spnego.Password(user.qualified_name, user.password),
                hostname="unspecified",
                service="host",
                context_req=_REQUIRED_SERVICES_BY_AUTH_LEVEL[level],
                protocol=protocol,
                options=options,
            )
        )


class SpnegoAcceptor(SpnegoContext):
    """A server's security context, which accepts only the given users."""

    def __init__(self, auth_type: int, level: AuthLevel, users: tuple[User, ...]) -> None:
        protocol, options = _SPNEGO_PROTOCOL_BY_AUTH_TYPE[auth_type]
        wanted = _REQUIRED_SERVICES_BY_AUTH_LEVEL[level]
        super().__init__(lambda: spnego.server(context_req=wanted, protocol=protocol, options=options))
        self._required_services = wanted
        self._users = users

    def process_token(self, token: bytes) -> bytes:
        """Handle a token. Refuse a client that cannot give the protection that its authentication level requires
        (MS-RPCE 3.3.1.5.2.2).
        """
        with announce_users_to_ntlm_acceptor(self._users, token):
            answer = super().process_token(token)
        if self.is_complete and self._required_services & ~self._complete_context.context_attr:
            raise SecurityError("the client cannot provide the protection that its authentication level requires")
        return answer


def _build_iov_buffers(segments: PduSegments) -> list[tuple[BufferType, bytes]]:
    kinds = (BufferType.sign_only, BufferType.data, BufferType.sign_only)
    return list(zip(kinds, segments, strict=True))


@contextlib.contextmanager
def _convert_pyspnego_errors(what: str) -> Iterator[None]:
    """Convert the exceptions of pyspnego into errors whose one-line messages contain no internal details."""
    try:
        yield
    except _TOKEN_ERRORS as error:
        raise SecurityError(what) from error
