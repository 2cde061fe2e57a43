"""The error for bytes that are no packet."""

from __future__ import annotations


class WireError(ValueError):
    """Bytes that cannot be dissected completely; one line naming the layer, the field and what is wrong."""
