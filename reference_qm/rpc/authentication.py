"""Defines the interface of security contexts, which a security provider implements. Spec: MS-RPCE 2.2.1.1.

The RPC runtime contains no provider, because NTLM needs random numbers and a clock, which the core does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol


class AuthType(IntEnum):
    """The security providers. Spec: MS-RPCE 2.2.1.1.7."""

    GSS_NEGOTIATE = 0x09
    WINNT = 0x0A


PROVIDERS_WITH_CLIENT_LAST_TOKEN = frozenset({AuthType.WINNT})
"""The providers for which the client sends the last token, in an rpc_auth_3 PDU (MS-RPCE 2.2.1.1.7, 3.3.1.5.2.1)."""


class AuthLevel(IntEnum):
    """The authentication levels. A higher level gives more protection. Spec: MS-RPCE 2.2.1.1.8."""

    NONE = 1
    CONNECT = 2
    CALL = 3
    PKT = 4
    PKT_INTEGRITY = 5
    PKT_PRIVACY = 6

    @property
    def signs_each_pdu(self) -> bool:
        """Whether each request and response has its own token. Spec: MS-RPCE 3.3.1.5.2.2."""
        return self >= AuthLevel.PKT

    @property
    def encrypts_stub(self) -> bool:
        """Whether the stub data are encrypted."""
        return self is AuthLevel.PKT_PRIVACY


def parse_authentication_level(wire: int) -> AuthLevel | None:
    """Return the authentication level that an auth_level stands for, or None for an unknown auth_level. DEFAULT
    means CONNECT, and CALL means PKT. Spec: MS-RPCE 2.2.1.1.8.
    """
    meant = {0: AuthLevel.CONNECT, int(AuthLevel.CALL): AuthLevel.PKT}
    if wire in meant:
        return meant[wire]
    return AuthLevel(wire) if AuthLevel.CONNECT <= wire <= AuthLevel.PKT_PRIVACY else None


class SecurityError(Exception):
    """Raised when a token or a signature is invalid, or when the security provider fails. The message has one line."""


class PduSegments(NamedTuple):
    """The segments into which a request or response PDU is divided for its protection. Spec: MS-RPCE 2.2.2.1.

    ``body``: the stub data with its padding. ``sec_trailer``: the 8 bytes of the sec_trailer, without the token.
    """

    header: bytes
    body: bytes
    sec_trailer: bytes


class SecurityContext(Protocol):
    """The security context of a client or server. It is established by an exchange of tokens, and then protects
    PDUs. Spec: RFC 2743; MS-RPCE 3.3.1.5.2.

    Every method may raise SecurityError. PDUs must be protected and checked in the order in which they are sent,
    because each direction has a sequence number. ``header_sign``: whether header signing was negotiated. A provider may
    sign more segments than negotiated.
    """

    @property
    def is_complete(self) -> bool:
        """Whether the context is fully established."""
        ...

    @property
    def identity(self) -> str:
        r"""The name of the authenticated user, known when the context is complete: ``user`` or ``DOMAIN\user``."""
        ...

    @property
    def signature_size(self) -> int:
        """The size in bytes of the token of a protected PDU."""
        ...

    def process_token(self, token: bytes) -> bytes:
        """Process a token of the remote side, which is empty at the start. Return the next token to send, or an
        empty token.
        """
        ...

    def sign(self, segments: PduSegments, *, header_sign: bool) -> bytes:
        """Return the signature of a PDU."""
        ...

    def verify(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> None:
        """Check the signature of a PDU. Raise SecurityError for a wrong signature."""
        ...

    def seal(self, segments: PduSegments, *, header_sign: bool) -> tuple[bytes, bytes]:
        """Return the encrypted body of a PDU, which has the length of the body, and the signature."""
        ...

    def unseal(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> bytes:
        """Verify the signature of an encrypted PDU and return its decrypted body."""
        ...


@dataclass(frozen=True, slots=True)
class ServerSecurity:
    """The authentication settings of a server. ``accept``: the function that makes the security context for an
    auth_type, or returns None for an unsupported auth_type.

    ``least_level``: the lowest authentication level that the server accepts for methods that require authentication
    (MS-MQRR 3.1.4.2 note <19>).
    """

    accept: Callable[[int, AuthLevel], SecurityContext | None] = lambda auth_type, level: None
    least_level: AuthLevel = AuthLevel.NONE


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """The authentication settings of a client. ``initiate``: the function that makes a new security context for
    each connection.
    """

    auth_type: AuthType
    level: AuthLevel
    initiate: Callable[[], SecurityContext]


NO_SECURITY = ServerSecurity()
"""The security of a server that supports no authentication type and requires no authentication."""
