"""Define the error for bytes that are not a valid packet."""

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
"""The exceptions that scapy's own layers raise for bytes that they cannot dissect."""


class WireError(ValueError):
    """Raised when bytes cannot be dissected completely. The one-line message names layer, field and reason."""
