"""Parses and builds security descriptors in the self-relative form. Spec: MS-DTYP 2.4.4, 2.4.5, 2.4.6.

The parser never reads past the available bytes, and raises only FormatError. The SACL is kept unchanged, because
the reference queue manager audits nothing. The ACE types are those of Windows NT 4.0 (MS-MQMQ 2.3.1.25, note <27>).
Any other type is an error, so that no denial is overlooked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Self

from reference_qm.codec import FormatError
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U8, U16, U32, Layout
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.security.sid import Sid

_ACE_LAYOUT = Layout("ACE", "MS-DTYP 2.4.4.1", AceType=U8, AceFlags=U8, AceSize=U16, Mask=U32)
_ACL_LAYOUT = Layout("ACL", "MS-DTYP 2.4.5", AclRevision=U8, Sbz1=U8, AclSize=U16, AceCount=U16, Sbz2=U16)
_DESCRIPTOR_LAYOUT = Layout(
    "SECURITY_DESCRIPTOR",
    "MS-DTYP 2.4.6",
    Revision=U8,
    Sbz1=U8,
    Control=U16,
    OffsetOwner=U32,
    OffsetGroup=U32,
    OffsetSacl=U32,
    OffsetDacl=U32,
)
_DESCRIPTOR_REVISION = 1
_ACL_REVISIONS = (2, 4)


class AceType(IntEnum):
    """The values of AceType, u8. Spec: MS-DTYP 2.4.4.1."""

    ACCESS_ALLOWED = 0
    ACCESS_DENIED = 1
    SYSTEM_AUDIT = 2
    SYSTEM_ALARM = 3


@dataclass(frozen=True, slots=True)
class Ace(Record):
    """An ACE: the rights that a SID is allowed or denied.

    Spec: MS-DTYP 2.4.4. 8 bytes and the SID. AceFlags u8; Mask u32 LE, an ACCESS_MASK; AceSize u16 LE (computed).
    """

    SPEC_SECTION: ClassVar[str] = "MS-DTYP 2.4.4"

    AceType: AceType
    Mask: int
    Sid: Sid
    AceFlags: int = 0

    INHERIT_ONLY: ClassVar[int] = 0x08

    @property
    def is_inherit_only(self) -> bool:
        """Return whether the ACE is only inherited by child objects and has no effect on the queue itself
        (INHERIT_ONLY_ACE).
        """
        return bool(self.AceFlags & self.INHERIT_ONLY)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        kind, flags, size, mask = cursor.unpack(_ACE_LAYOUT)
        if kind not in tuple(AceType):
            raise FormatError(
                "ACE.AceType", start, "MS-MQMQ 2.3.1.25", f"0x{kind:02X} is not an ACE type of Windows NT 4.0"
            )
        if size < _ACE_LAYOUT.size:
            raise FormatError(
                "ACE.AceSize", start + 2, cls.SPEC_SECTION, f"{size} is below the minimum {_ACE_LAYOUT.size}"
            )
        trustee = cursor.take_subcursor(size - _ACE_LAYOUT.size, "ACE.Sid", cls.SPEC_SECTION)
        sid = Sid.read(trustee)
        trustee.require_end("ACE.AceSize", cls.SPEC_SECTION)
        return cls(AceType(kind), mask, sid, flags)

    def build(self) -> bytes:
        sid = self.Sid.build()
        return _ACE_LAYOUT.pack(self.AceType, self.AceFlags, _ACE_LAYOUT.size + len(sid), self.Mask) + sid


@dataclass(frozen=True, slots=True)
class Acl(Record):
    """An ACL: a list of ACEs. Spec: MS-DTYP 2.4.5. 8 bytes and the entries. AclSize, AceCount u16 LE (computed)."""

    SPEC_SECTION: ClassVar[str] = "MS-DTYP 2.4.5"

    Aces: tuple[Ace, ...] = ()
    AclRevision: int = 2

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        revision, _, size, count, _ = cursor.unpack(_ACL_LAYOUT)
        if revision not in _ACL_REVISIONS:
            raise FormatError("ACL.AclRevision", start, cls.SPEC_SECTION, f"the value is {revision} instead of 2 or 4")
        if size < _ACL_LAYOUT.size:
            raise FormatError(
                "ACL.AclSize", start + 2, cls.SPEC_SECTION, f"{size} is below the minimum {_ACL_LAYOUT.size}"
            )
        listed = cursor.take_subcursor(size - _ACL_LAYOUT.size, "ACL.AclSize", cls.SPEC_SECTION)
        return cls(tuple(Ace.read(listed) for _ in range(count)), revision)  # bytes behind the last ACE are allowed

    def build(self) -> bytes:
        aces = b"".join(ace.build() for ace in self.Aces)
        return _ACL_LAYOUT.pack(self.AclRevision, 0, _ACL_LAYOUT.size + len(aces), len(self.Aces), 0) + aces


@dataclass(frozen=True, slots=True)
class SecurityDescriptor(RecordWithBitFlags, Record):
    """A SECURITY_DESCRIPTOR: the rights of users.

    Spec: MS-DTYP 2.4.6. 20 bytes and the parts of the descriptor, which may be anywhere after these bytes. Control
    u16 LE. Owner, Group, Dacl and Sacl are None if they are missing. Without a DACL everything is granted to
    everyone; an empty DACL grants nothing. Sacl contains the bytes of an ACL. ``build`` sets SR, DP and SP of
    Control according to the existing parts.
    """

    SPEC_SECTION: ClassVar[str] = "MS-DTYP 2.4.6"

    Owner: Sid | None = None
    Group: Sid | None = None
    Dacl: Acl | None = None
    Control: int = 0
    Sacl: bytes | None = None

    DP = Bits(2, of="Control")
    SP = Bits(4, of="Control")
    SR = Bits(15, of="Control")

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        """Read a security descriptor that uses all remaining bytes of ``cursor``."""
        start = cursor.offset
        revision, _, control, owner, group, sacl, dacl = cursor.unpack(_DESCRIPTOR_LAYOUT)
        if revision != _DESCRIPTOR_REVISION:
            raise FormatError(
                "SECURITY_DESCRIPTOR.Revision",
                start,
                cls.SPEC_SECTION,
                f"the value is {revision} instead of {_DESCRIPTOR_REVISION}",
            )
        if not control >> 15 & 1:
            raise FormatError(
                "SECURITY_DESCRIPTOR.Control",
                start + 2,
                cls.SPEC_SECTION,
                "SR is clear, so the descriptor is not self-relative",
            )
        parts = cursor.read_bytes(cursor.remaining_bytes, "SECURITY_DESCRIPTOR", cls.SPEC_SECTION)
        present, audited = dacl if control >> 2 & 1 else 0, sacl if control >> 4 & 1 else 0
        return cls(
            Sid.read(_open_descriptor_part(parts, owner, "OffsetOwner")) if owner else None,
            Sid.read(_open_descriptor_part(parts, group, "OffsetGroup")) if group else None,
            Acl.read(_open_descriptor_part(parts, present, "OffsetDacl")) if present else None,
            control,
            _read_acl_bytes(_open_descriptor_part(parts, audited, "OffsetSacl")) if audited else None,
        )

    def build(self) -> bytes:
        wire = bytearray(_DESCRIPTOR_LAYOUT.size)
        offsets = []
        for part in (self.Owner, self.Group, self.Dacl, self.Sacl):
            offsets.append(0 if part is None else len(wire))
            wire += b"" if part is None else part if isinstance(part, bytes) else part.build()
        present = (0 if self.Dacl is None else 1 << 2) | (0 if self.Sacl is None else 1 << 4)
        owner, group, dacl, sacl = offsets
        head = _DESCRIPTOR_LAYOUT.pack(
            _DESCRIPTOR_REVISION, 0, self.Control | 1 << 15 | present, owner, group, sacl, dacl
        )
        wire[: _DESCRIPTOR_LAYOUT.size] = head
        return bytes(wire)


def _read_acl_bytes(cursor: ByteCursor) -> bytes:
    """Return the bytes of an ACL. Do not check its entries."""
    head = cursor.read_bytes(_ACL_LAYOUT.size, "ACL", "MS-DTYP 2.4.5")
    size = int.from_bytes(head[2:4], "little")
    if size < _ACL_LAYOUT.size:
        raise FormatError("ACL.AclSize", 2, "MS-DTYP 2.4.5", f"{size} is below the minimum {_ACL_LAYOUT.size}")
    return head + cursor.read_bytes(size - _ACL_LAYOUT.size, "ACL.AclSize", "MS-DTYP 2.4.5")


def _open_descriptor_part(parts: bytes, offset: int, field: str) -> ByteCursor:
    """Return a cursor for a part of a security descriptor. ``offset`` counts from the start of the descriptor."""
    begin = offset - _DESCRIPTOR_LAYOUT.size
    if not 0 <= begin < len(parts):
        raise FormatError(f"SECURITY_DESCRIPTOR.{field}", 0, "MS-DTYP 2.4.6", f"{offset} is outside the descriptor")
    return ByteCursor(parts, begin)
