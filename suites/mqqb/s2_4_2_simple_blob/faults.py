"""Faults of MS-MQQB 2.4.2 SIMPLEBLOB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import secured_with
from reference_qm.codec import SimpleBlob, UserMessagePacket

DES = 0x6601


def _other_algorithm(blob: bytes) -> bytes:
    return replace(SimpleBlob.parse(blob), sessionKeyAlgorithm=DES).build()


def _sent(change: Callable[[bytes], bytes]) -> Install:
    return wrong_fields(
        UserMessagePacket, {"SecurityHeader.SecurityData.EncryptionKey": change}, secured_with("EncryptionKey")
    )


add("session-key-of-another-algorithm", "MQQB-2.4.2-01", "sessionKeyAlgorithm is DES.", _sent(_other_algorithm))
add(
    "session-key-blob-for-signing",
    "MQQB-2.4.2-D01",
    "The second fixed part of a SIMPLEBLOB names a signing key.",
    _sent(lambda blob: blob[:8] + b"\0\x24\0\0" + blob[12:]),
)
add(
    "session-key-blob-without-zeros",
    "MQQB-2.4.2-D01",
    "A SIMPLEBLOB ends with the last byte of encryptedKey that is not zero.",
    _sent(lambda blob: blob.rstrip(b"\0")),
)
add(
    "session-key-big-endian",
    "MQQB-2.4.2-D02",
    "encryptedKey begins with its most significant byte.",
    _sent(lambda blob: blob[:12] + blob[12:].rstrip(b"\0")[::-1].ljust(256, b"\0")),
)
