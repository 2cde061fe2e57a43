"""Set the bits and fields of a packet that its receiver must ignore."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_NONZERO_RESERVED_BYTE = 0xA7


def group_unused_field_values_by_header(names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the values of unused bits and fields, by header. Each name consists of a header and of a field, as in
    ``base.X3``.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name in names:
        header, _, field = name.rpartition(".")
        found[header][field] = _NONZERO_RESERVED_BYTE if field == "Reserved" else 1
    return found
