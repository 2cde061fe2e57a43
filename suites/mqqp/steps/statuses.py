"""HRESULTs, grouped by the document or vendor that defines them. Spec: MS-MQMQ 2.4, MS-ERREF 2.1, MS-DTYP 2.2.18."""

from __future__ import annotations

from itertools import chain

CUSTOMER_BIT_MASK = 0x2000_0000
SEVERITY_BIT_MASK = 0x8000_0000
MESSAGE_QUEUING_FACILITY = 0x000E
"""The facility of message queuing."""

_ERROR_CODES = frozenset(
    chain(
        *(
            range(first, last + 1)
            for first, last in (
                *((0x01, 0x09), (0x0B, 0x0B), (0x0D, 0x0D), (0x10, 0x11), (0x13, 0x14), (0x18, 0x28), (0x2A, 0x31)),
                *((0x33, 0x33), (0x35, 0x46), (0x48, 0x4C), (0x4E, 0x4E), (0x50, 0x51), (0x55, 0x56), (0x58, 0x58)),
                *((0x5A, 0x96), (0x99, 0x9C), (0x504, 0x504)),
            )
        )
    )
)
"""Error codes of message queuing: the table of MS-MQMQ 2.4."""
_INFORMATION_CODES = frozenset({*range(0x01, 0x07), 0x09, 0x0A, 0x0B, 0x3E9})
"""Informational codes of message queuing: MS-MQMQ 2.4 and MS-MQQP 3.1.4.6."""


def has_customer_bit(status: int) -> bool:
    """Return whether a status has the C bit, which marks the codes of vendors."""
    return bool(status & CUSTOMER_BIT_MASK)


def is_documented_status(status: int) -> bool:
    """Return whether a document defines a status. A document defines the listed codes of message queuing, and all codes
    of other facilities.
    """
    if status >> 16 & 0x7FF != MESSAGE_QUEUING_FACILITY:
        return True
    return status & 0xFFFF in (_ERROR_CODES if status & SEVERITY_BIT_MASK else _INFORMATION_CODES)
