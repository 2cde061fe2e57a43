"""Steps that read and build SECURITY_DESCRIPTORs as bytes, with the tables of MS-DTYP 2.4 and without a codec."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConformanceFailure
from harness.sut.sut import Sut

ANONYMOUS_SID, EVERYONE_SID = "S-1-5-7", "S-1-1-0"
SELF_RELATIVE_FLAG = 0x8000
_DACL_PRESENT_FLAG, _SACL_PRESENT_FLAG = 0x0004, 0x0010
_ALLOWED_ACE_TYPE, _DENIED_ACE_TYPE, _AUDITED_ACE_TYPE = 0, 1, 2
INHERIT_ONLY_FLAG = 0x08
"""The flag INHERIT_ONLY_ACE: the entry does not apply to the object itself. Spec: MS-DTYP 2.4.4.1."""
_SUCCESSFUL_ACCESS_FLAG = 0x40
"""The flag SUCCESSFUL_ACCESS_ACE_FLAG: the entry audits successful accesses. Spec: MS-DTYP 2.4.4.1."""
_ACL_REVISION = 2
AccessListEntries = tuple[tuple[str, int], ...]
"""The entries of an access list; each entry is a SID and its access mask."""
_SECURITY_DESCRIPTOR_HEADER_FORMAT = struct.Struct("<BBHIIII")


@dataclass(frozen=True, slots=True)
class ParsedSecurityDescriptor:
    """A security descriptor. ``granted_entries``: the entries that allow rights, in order; ``others``: the number of
    the other entries; ``entries``: all entries in order.

    ``owner``: a SID, or empty if there is no owner; ``audited_entries``: the entries of the system access list;
    ``format_error``: why the bytes are not in self-relative format, or None if they are.
    """

    control: int
    owner: str
    granted_entries: AccessListEntries
    other_entry_count: int
    audited_entries: AccessListEntries
    entries: AccessListEntries
    format_error: str | None

    def find_granted_mask(self, sid: str) -> int | None:
        """Return the access mask that the entries of a SID grant, or None if the SID has no entry."""
        masks = [mask for one, mask in self.granted_entries if one == sid]
        return None if not masks else masks[0]


def read_security_descriptor_of_queue(sut: Sut, name: str) -> ParsedSecurityDescriptor:
    """Read the security descriptor of a queue of the SUT, which the verb ``get_queue`` or, if that verb does not return
    it, ``inspect`` returns. Raise NotShown if neither verb returns it, and ConformanceFailure if its bytes are
    malformed.
    """
    if sut.has("inspect"):
        data = bytes.fromhex(sut.inspect_queue(name)["Security"])
    else:
        data = base64.b64decode(sut.control.call("get_queue", name=name)["security_base64"])
    try:
        _, _, control, owner, _, sacl, dacl = _SECURITY_DESCRIPTOR_HEADER_FORMAT.unpack_from(data)
        entries = _read_access_list_entries(data, dacl if control & _DACL_PRESENT_FLAG else 0)
        granted = tuple((sid, mask) for kind, sid, mask in entries if kind == _ALLOWED_ACE_TYPE)
        audited = tuple(
            (sid, mask) for _, sid, mask in _read_access_list_entries(data, sacl if control & _SACL_PRESENT_FLAG else 0)
        )
        return ParsedSecurityDescriptor(
            control,
            _read_sid(data, owner) if owner else "",
            granted,
            len(entries) - len(granted),
            audited,
            tuple((sid, mask) for _, sid, mask in entries),
            _find_misplaced_part_of_descriptor(data),
        )
    except struct.error as error:
        raise ConformanceFailure(f"the security descriptor cannot be read: {error}") from error


def _find_misplaced_part_of_descriptor(data: bytes) -> str | None:
    """Return the first reason why the bytes of a security descriptor are not one block with offsets to its parts, or
    None if they are. Spec: MS-DTYP 2.4.6.
    """
    _, _, control, *sids, sacl, dacl = _SECURITY_DESCRIPTOR_HEADER_FORMAT.unpack_from(data)
    if not control & SELF_RELATIVE_FLAG:
        return "SR is clear"
    for name, at in zip(("OffsetOwner", "OffsetGroup"), sids, strict=True):
        if at and (at + 8 > len(data) or data[at] != 1 or at + 8 + 4 * data[at + 1] > len(data)):
            return f"no SID is at {name} {at}"
    for name, at, flag in (("OffsetSacl", sacl, _SACL_PRESENT_FLAG), ("OffsetDacl", dacl, _DACL_PRESENT_FLAG)):
        size = int.from_bytes(data[at + 2 : at + 4], "little")
        if at and control & flag and (data[at : at + 1] not in (b"\2", b"\4") or not 8 <= size <= len(data) - at):
            return f"no access list is at {name} {at}"
    return None


def parse_sid(data: bytes) -> str:
    """Read a SID; raise ConformanceFailure if its bytes are malformed."""
    try:
        return _read_sid(data, 0)
    except struct.error as error:
        raise ConformanceFailure(f"the SID cannot be read: {error}") from error


def build_security_descriptor(
    *,
    owner: str = "",
    granted: AccessListEntries = (),
    flags: int = 0,
    denied: AccessListEntries = (),
    audited: AccessListEntries = (),
    denials_first: bool = False,
    empty_list: bool = False,
) -> bytes:
    """Build a self-relative descriptor without its empty parts; with ``empty_list``, it has a discretionary access list
    even if there are no entries. ``flags``: the flags of the entries that grant rights. These entries precede the
    entries that deny rights, unless ``denials_first`` is set.
    """
    grants, denials = (
        [(_ALLOWED_ACE_TYPE, flags, *one) for one in granted],
        [(_DENIED_ACE_TYPE, 0, *one) for one in denied],
    )
    entries = [*denials, *grants] if denials_first else [*grants, *denials]
    audits = [(_AUDITED_ACE_TYPE, _SUCCESSFUL_ACCESS_FLAG, *one) for one in audited]
    parts = (
        _build_sid(owner) if owner else b"",
        _build_access_list(audits) if audits else b"",
        _build_access_list(entries) if entries or empty_list else b"",
    )
    offset = _SECURITY_DESCRIPTOR_HEADER_FORMAT.size
    offsets = []
    for part in parts:
        offsets.append(offset if part else 0)
        offset += len(part)
    present = (_SACL_PRESENT_FLAG if audited else 0) | (_DACL_PRESENT_FLAG if entries or empty_list else 0)
    return _SECURITY_DESCRIPTOR_HEADER_FORMAT.pack(
        1, 0, SELF_RELATIVE_FLAG | present, offsets[0], 0, *offsets[1:]
    ) + b"".join(parts)


def _read_access_list_entries(data: bytes, at: int) -> list[tuple[int, str, int]]:
    """Read the entries of an access list, each with its type; return no entries if the descriptor contains no list."""
    if not at:
        return []
    (count,) = struct.unpack_from("<H", data, at + 4)
    entries = []
    at += 8
    for _ in range(count):
        kind, _, size, mask = struct.unpack_from("<BBHI", data, at)
        entries.append((kind, _read_sid(data, at + 8), mask))
        at += size
    return entries


def _build_access_list(entries: Sequence[tuple[int, int, str, int]]) -> bytes:
    """Build an access list; each entry consists of a type, flags, a SID and a mask."""
    built = b""
    for kind, flags, sid, mask in entries:
        sid_bytes = _build_sid(sid)
        built += struct.pack("<BBHI", kind, flags, 8 + len(sid_bytes), mask) + sid_bytes
    return struct.pack("<BBHHH", _ACL_REVISION, 0, 8 + len(built), len(entries), 0) + built


def _build_sid(sid: str) -> bytes:
    _, revision, authority, *parts = sid.split("-")
    head = struct.pack("<BB", int(revision), len(parts)) + int(authority).to_bytes(6, "big")
    return head + struct.pack(f"<{len(parts)}I", *map(int, parts))


def _read_sid(data: bytes, at: int) -> str:
    revision, count = struct.unpack_from("<BB", data, at)
    authority = int.from_bytes(data[at + 2 : at + 8], "big")
    parts = struct.unpack_from(f"<{count}I", data, at + 8)
    return "-".join(["S", *map(str, (revision, authority, *parts))])
