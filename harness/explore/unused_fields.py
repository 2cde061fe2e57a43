"""Set the bits and fields of a packet that its receiver must ignore."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_RESERVED_MARK = 0xA7


def group_unused_fields(names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the values of unused bits and fields, by header. Each name consists of a header and of a field, as in
    ``base.X3``.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name in names:
        header, _, field = name.rpartition(".")
        found[header][field] = _RESERVED_MARK if field == "Reserved" else 1
    return found
