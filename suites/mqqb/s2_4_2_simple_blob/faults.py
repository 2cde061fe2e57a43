"""Faults of MS-MQQB 2.4.2 SIMPLEBLOB."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from harness.faults.sent_messages import secured_with
from reference_qm.codec import SimpleBlob, UserMessagePacket

DES = 0x6601


def _other_algorithm(blob: bytes) -> bytes:
    return replace(SimpleBlob.parse(blob), sessionKeyAlgorithm=DES).build()


add(
    "session-key-of-another-algorithm",
    "MQQB-2.4.2-01",
    "sessionKeyAlgorithm is DES.",
    wrong_fields(
        UserMessagePacket,
        {"SecurityHeader.SecurityData.EncryptionKey": _other_algorithm},
        secured_with("EncryptionKey"),
    ),
)
