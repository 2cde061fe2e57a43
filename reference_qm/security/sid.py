"""Parses and builds security identifiers. Spec: MS-DTYP 2.4.2, MS-MQMQ 2.2.20.6 (SecurityID)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from reference_qm.codec import FormatError, MisuseError
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U8, U32, Layout
from reference_qm.codec.record import Record

_SID_LAYOUT = Layout("SID", "MS-DTYP 2.4.2.2", Revision=U8, SubAuthorityCount=U8, IdentifierAuthority="6s")
_SUBAUTHORITY_LAYOUT = Layout("SID", "MS-DTYP 2.4.2.2", SubAuthority=U32)
_SID_TEXT_PATTERN = re.compile(r"S-1-(\d{1,15})((?:-\d{1,10}){0,15})", re.ASCII)
SID_REVISION = 1
MAX_SUB_AUTHORITIES = 15


@dataclass(frozen=True, slots=True)
class Sid(Record):
    """A SID: the identifier of a user or group.

    Spec: MS-DTYP 2.4.2.2. 8 bytes, and 4 bytes for each of at most 15 sub-authorities. IdentifierAuthority 48-bit int,
    big-endian on the wire; SubAuthority u32 LE each. ``str`` returns the text form of 2.4.2.1, such as S-1-5-18.
    """

    SPEC_SECTION: ClassVar[str] = "MS-DTYP 2.4.2.2"

    IdentifierAuthority: int
    SubAuthority: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "-".join(map(str, ("S", SID_REVISION, self.IdentifierAuthority, *self.SubAuthority)))

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the SID with the given text form, in which the authority is decimal. Raise FormatError for an
        invalid text.
        """
        match = _SID_TEXT_PATTERN.fullmatch(text)
        if match is None:
            raise FormatError("SID", 0, "MS-DTYP 2.4.2.1", f"{text!r} is not of the form S-1-5-18")
        authority, *subs = (int(part) for part in (match[1] + match[2]).split("-"))
        if authority >> 48 or any(sub >> 32 for sub in subs):
            raise FormatError("SID", 0, "MS-DTYP 2.4.2.1", f"{text!r} has a part that is too large")
        return cls(authority, tuple(subs))

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        revision, count, authority = cursor.unpack(_SID_LAYOUT)
        if revision != SID_REVISION:
            raise FormatError(
                "SID.Revision", start, cls.SPEC_SECTION, f"the value is {revision} instead of {SID_REVISION}"
            )
        if count > MAX_SUB_AUTHORITIES:
            raise FormatError(
                "SID.SubAuthorityCount", start + 1, cls.SPEC_SECTION, f"{count} is above {MAX_SUB_AUTHORITIES}"
            )
        return cls(
            int.from_bytes(authority, "big"), tuple(cursor.unpack(_SUBAUTHORITY_LAYOUT)[0] for _ in range(count))
        )

    def build(self) -> bytes:
        if len(self.SubAuthority) > MAX_SUB_AUTHORITIES or self.IdentifierAuthority >> 48:
            raise MisuseError(f"SID {self} has too many parts, or its IdentifierAuthority is too large")
        head = _SID_LAYOUT.pack(SID_REVISION, len(self.SubAuthority), self.IdentifierAuthority.to_bytes(6, "big"))
        return head + b"".join(_SUBAUTHORITY_LAYOUT.pack(sub) for sub in self.SubAuthority)


EVERYONE_SID = Sid(1, (0,))
"""The SID S-1-1-0: the group of all users."""
AUTHENTICATED_USERS_SID = Sid(5, (11,))
"""The SID of authenticated users (MS-DTYP 2.4.2.4)."""
ANONYMOUS_SID = Sid(5, (7,))
"""The SID S-1-5-7: the anonymous user."""
OWNER_RIGHTS_SID = Sid(3, (4,))
"""The SID S-1-3-4. In an ACE this SID stands for the owner, and the rights of the ACE replace the implicit rights
of the owner (MS-DTYP 2.5.3.2).
"""
