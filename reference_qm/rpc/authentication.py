"""Security contexts as the runtime sees them; whoever has a security provider implements these. Spec: MS-RPCE 2.2.1.1.

The runtime knows no provider: NTLM needs random numbers and a clock, which are nothing of the core's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol


class AuthType(IntEnum):
    """Security providers. Spec: MS-RPCE 2.2.1.1.7."""

    GSS_NEGOTIATE = 0x09
    WINNT = 0x0A


ODD_LEGS = frozenset({AuthType.WINNT})
"""The providers whose last leg is the client's, an rpc_auth_3 PDU (MS-RPCE 2.2.1.1.7, 3.3.1.5.2.1)."""


class AuthLevel(IntEnum):
    """Authentication levels, the higher the more is protected. Spec: MS-RPCE 2.2.1.1.8."""

    NONE = 1
    CONNECT = 2
    CALL = 3
    PKT = 4
    PKT_INTEGRITY = 5
    PKT_PRIVACY = 6

    @property
    def signs(self) -> bool:
        """Return whether each request and response has a token of its own. Spec: MS-RPCE 3.3.1.5.2.2."""
        return self >= AuthLevel.PKT

    @property
    def seals(self) -> bool:
        """Return whether the stub data are encrypted."""
        return self is AuthLevel.PKT_PRIVACY


def agreed_level(wire: int) -> AuthLevel | None:
    """Return the level that an auth_level stands for: DEFAULT for CONNECT, CALL for PKT; None when it is none.

    Spec: MS-RPCE 2.2.1.1.8.
    """
    meant = {0: AuthLevel.CONNECT, int(AuthLevel.CALL): AuthLevel.PKT}
    if wire in meant:
        return meant[wire]
    return AuthLevel(wire) if AuthLevel.CONNECT <= wire <= AuthLevel.PKT_PRIVACY else None


class SecurityError(Exception):
    """A token that proves nothing, a signature that is wrong, or a provider that cannot: one line."""


class Segments(NamedTuple):
    """The parts of a request or response PDU that protection speaks of. Spec: MS-RPCE 2.2.2.1.

    ``body``: the stub data with its padding; ``sec_trailer``: its 8 bytes, without the token.
    """

    header: bytes
    body: bytes
    sec_trailer: bytes


class SecurityContext(Protocol):
    """One side's security context: being built leg by leg, then protecting PDUs. Spec: RFC 2743; MS-RPCE 3.3.1.5.2.

    Every method raises SecurityError. PDUs are protected and checked in the order in which they pass: each direction
    has a sequence number. ``header_sign``: whether header signing was negotiated; a provider may sign more than asked.
    """

    @property
    def complete(self) -> bool:
        """Whether it is built."""
        ...

    @property
    def identity(self) -> str:
        """The name of the user, once it is built: ``user`` or ``DOMAIN\\user``."""
        ...

    @property
    def signature_size(self) -> int:
        """The number of bytes of the token of a protected PDU."""
        ...

    def step(self, token: bytes) -> bytes:
        """Take a token of the other side, none at the start; return the next one to send, empty when there is none."""
        ...

    def sign(self, segments: Segments, *, header_sign: bool) -> bytes:
        """Return the signature of a PDU."""
        ...

    def verify(self, segments: Segments, signature: bytes, *, header_sign: bool) -> None:
        """Check the signature of a PDU."""
        ...

    def seal(self, segments: Segments, *, header_sign: bool) -> tuple[bytes, bytes]:
        """Return the encrypted body of a PDU, as long as it was, and the signature."""
        ...

    def unseal(self, segments: Segments, signature: bytes, *, header_sign: bool) -> bytes:
        """Verify the signature of an encrypted PDU and return its decrypted body."""
        ...


@dataclass(frozen=True, slots=True)
class ServerSecurity:
    """What a server authenticates with. ``accept``: makes the context for an auth_type, None for one that it has not.

    ``least_level``: what the server demands of calls, as far as its methods demand any (MS-MQRR 3.1.4.2 note <19>).
    """

    accept: Callable[[int, AuthLevel], SecurityContext | None] = lambda auth_type, level: None
    least_level: AuthLevel = AuthLevel.NONE


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """What a client authenticates with: ``initiate`` makes a new context, one for each connection."""

    auth_type: AuthType
    level: AuthLevel
    initiate: Callable[[], SecurityContext]


NO_SECURITY = ServerSecurity()
"""A server that speaks no authentication type, and demands none."""
