"""SECURITY_DESCRIPTORs as bytes, read by the tables of MS-DTYP 2.4 and no codec."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.errors import ConformanceFailure

SELF_RELATIVE = 0x8000
_DACL_PRESENT = 0x0004
_ALLOWED = 0
_HEAD = struct.Struct("<BBHIIII")


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A descriptor. ``granted``: its allowing entries as (SID, mask), in order; ``others``: how many it has besides.

    ``owner``: a SID, empty for none.
    """

    control: int
    owner: str
    granted: tuple[tuple[str, int], ...]
    others: int

    def mask(self, sid: str) -> int | None:
        """Return what is granted to a SID by entries of its own; None when it has none."""
        masks = [mask for one, mask in self.granted if one == sid]
        return None if not masks else masks[0]


def descriptor_of(data: bytes) -> Descriptor:
    """Read a descriptor whose parts are at offsets; ConformanceFailure when it cannot be read."""
    try:
        _, _, control, owner, _, _, dacl = _HEAD.unpack_from(data)
        granted: list[tuple[str, int]] = []
        others = 0
        if control & _DACL_PRESENT and dacl:
            (count,) = struct.unpack_from("<H", data, dacl + 4)
            at = dacl + 8
            for _ in range(count):
                kind, _, size, mask = struct.unpack_from("<BBHI", data, at)
                if kind == _ALLOWED:
                    granted.append((_sid(data, at + 8), mask))
                else:
                    others += 1
                at += size
        return Descriptor(control, _sid(data, owner) if owner else "", tuple(granted), others)
    except struct.error as error:
        raise ConformanceFailure(f"the security descriptor cannot be read: {error}") from error


def sid_of(data: bytes) -> str:
    """Read a SID; ConformanceFailure when it cannot be read."""
    try:
        return _sid(data, 0)
    except struct.error as error:
        raise ConformanceFailure(f"the SID cannot be read: {error}") from error


def _sid(data: bytes, at: int) -> str:
    revision, count = struct.unpack_from("<BB", data, at)
    authority = int.from_bytes(data[at + 2 : at + 8], "big")
    parts = struct.unpack_from(f"<{count}I", data, at + 8)
    return "-".join(["S", *map(str, (revision, authority, *parts))])
