"""Defines the identifiers of abstract and transfer syntaxes. Spec: C706 12.6.3.1; MS-RPCE 2.2.4.12, 2.2.5.1,
3.3.1.5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SyntaxId:
    """A p_syntax_id_t: the UUID and the version of an interface or of a transfer syntax.

    ``version``: a u32 that contains the major version in the low half and the minor version in the high half.
    """

    uuid: UUID
    version: int

    @property
    def major(self) -> int:
        """The major version."""
        return self.version & 0xFFFF

    @property
    def minor(self) -> int:
        """The minor version."""
        return self.version >> 16

    def serves_client_syntax(self, asked: SyntaxId) -> bool:
        """Return whether an interface with this identifier serves a client that requests the identifier ``asked``.

        Spec: C706 6.1.2.
        """
        return self.uuid == asked.uuid and self.major == asked.major and self.minor >= asked.minor


NIL_SYNTAX = SyntaxId(UUID(int=0), 0)
NDR = SyntaxId(UUID("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2)
NDR64 = SyntaxId(UUID("71710533-beba-4937-8319-b5dbef9ccc36"), 1)

KEEP_CONNECTION_ON_ORPHAN_FEATURE = 0x02
"""The supported bind time feature (MS-RPCE 3.3.1.5.10). Multiplexing of security contexts is not supported."""

_BIND_FEATURE_PREFIX = UUID("6cb71c2c-9812-4540-0000-000000000000").bytes[:8]


def get_requested_bind_features(syntax: SyntaxId) -> int | None:
    """Return the feature bits of a transfer syntax that requests a bind time feature negotiation, or None for any
    other transfer syntax.

    Spec: MS-RPCE 3.3.1.5.3, 2.2.2.14.
    """
    if syntax.version != 1 or syntax.uuid.bytes[:8] != _BIND_FEATURE_PREFIX:
        return None
    return int.from_bytes(syntax.uuid.bytes[8:], "little")
