"""The error for bytes that are no packet."""

from __future__ import annotations

import struct

from scapy.error import Scapy_Exception

DISSECTION_ERRORS = (
    struct.error,
    ValueError,
    IndexError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
    OverflowError,
    Scapy_Exception,
)
"""What scapy's own layers raise at bytes that they cannot dissect."""


class WireError(ValueError):
    """Bytes that cannot be dissected completely; one line naming the layer, the field and what is wrong."""
