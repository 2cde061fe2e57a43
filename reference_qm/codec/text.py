"""Converts buffers of WCHARs to text and back. Every sequence of 16-bit units can be converted without loss.

Spec: MS-MQMQ 2.2.18.1.5.2, 2.2.19.3 (Label), 2.2.20.7. The terminating null is not part of the text. A buffer
without the terminating null violates a rule but can be parsed, so records have an attribute ``...Terminated``.
"""

from __future__ import annotations

from functools import lru_cache

NULL_WCHAR = b"\0\0"
"""The two bytes of the terminating null, which is a WCHAR with the value zero."""


def decode_wchars(wire: bytes) -> str:
    """Return the text that WCHARs represent; ``wire`` has an even number of bytes. Lone surrogates are kept."""
    return wire.decode("utf-16-le", "surrogatepass")


def encode_wchars(text: str) -> bytes:
    """Return a text as the bytes of its WCHARs."""
    return text.encode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=1024)  # every packet has one of the same few queues and labels
def split_terminator(wire: bytes) -> tuple[str, bool]:
    """Return the text of a buffer without the terminating null, and whether the buffer has the terminating null."""
    text = decode_wchars(wire)
    return (text[:-1], True) if text.endswith("\0") else (text, False)


def append_terminator(text: str, terminated: bool) -> bytes:
    """Return the WCHAR buffer of a text. The terminating null is appended if ``terminated`` is true."""
    return encode_wchars(text) + NULL_WCHAR if terminated else encode_wchars(text)
