"""Faults of MS-MQQB 2.4.2 SIMPLEBLOB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import wrong_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_security_item
from reference_qm.codec import SimpleBlob, UserMessagePacket

DES_ALGORITHM = 0x6601


def _change_session_key_algorithm(blob: bytes) -> bytes:
    return replace(SimpleBlob.parse(blob), sessionKeyAlgorithm=DES_ALGORITHM).build()


def _change_sent_blob(change: Callable[[bytes], bytes]) -> Install:
    return wrong_fields(
        UserMessagePacket, {"SecurityHeader.SecurityData.EncryptionKey": change}, has_security_item("EncryptionKey")
    )


add(
    "sender-simple-blob-algorithm-des",
    "MQQB-2.4.2-01",
    "The sender's SIMPLEBLOB has the sessionKeyAlgorithm DES.",
    _change_sent_blob(_change_session_key_algorithm),
)
add(
    "sender-simple-blob-constant-of-signing-key",
    "MQQB-2.4.2-D01",
    "The sender's SIMPLEBLOB names a signing key in its second constant part.",
    _change_sent_blob(lambda blob: blob[:8] + b"\0\x24\0\0" + blob[12:]),
)
add(
    "sender-simple-blob-trailing-zeros-missing",
    "MQQB-2.4.2-D01",
    "The sender's SIMPLEBLOB ends with the last byte of encryptedKey that is not zero.",
    _change_sent_blob(lambda blob: blob.rstrip(b"\0")),
)
add(
    "sender-simple-blob-encrypted-key-big-endian",
    "MQQB-2.4.2-D02",
    "The sender's SIMPLEBLOB has encryptedKey in big-endian order.",
    _change_sent_blob(lambda blob: blob[:12] + blob[12:].rstrip(b"\0")[::-1].ljust(256, b"\0")),
)
