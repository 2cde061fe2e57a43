"""Converts buffers of WCHAR on the wire to text and back; every sequence of 16-bit units survives.

Spec: MS-MQMQ 2.2.18.1.5.2, 2.2.19.3 (Label), 2.2.20.7. The terminating null is not part of the text. A missing null
breaks a rule, not the structure, so records keep ``...Terminated``.
"""

from __future__ import annotations

from functools import lru_cache

NULL_WCHAR = b"\0\0"
"""The two bytes of a WCHAR whose value is zero."""


def decode(wire: bytes) -> str:
    """Return the text of WCHARs (an even number of bytes); lone surrogates stay unchanged."""
    return wire.decode("utf-16-le", "surrogatepass")


def encode(text: str) -> bytes:
    """Return a text as WCHARs."""
    return text.encode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=1024)  # every packet has one of the same few queues and labels
def split_terminator(wire: bytes) -> tuple[str, bool]:
    """Return the text of a buffer without its terminating null, and whether the null was present."""
    text = decode(wire)
    return (text[:-1], True) if text.endswith("\0") else (text, False)


def append_terminator(text: str, terminated: bool) -> bytes:
    """Return the buffer of a text, with its terminating null if ``terminated``."""
    return encode(text) + NULL_WCHAR if terminated else encode(text)
