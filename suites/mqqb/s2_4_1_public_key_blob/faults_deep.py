"""Faults of MS-MQQB 2.4.1 PUBLICKEYBLOB, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import add

MODULUS_AT = 20


def _reverse_half(blob: bytes) -> bytes:
    modulus = blob[MODULUS_AT:]
    return blob[:MODULUS_AT] + modulus[2:4] + modulus[:2] + modulus[4:]


for name, rule, says, change in (
    (
        "receiver-bit-length-of-public-key-in-bytes",
        "MQQB-2.4.1-01",
        "The receiver publishes PUBLICKEYBLOBs whose bitLen is the length of the modulus in bytes.",
        change_blob_number(12, lambda bits: bits // 8),
    ),
    (
        "receiver-public-exponent-3-published",
        "MQQB-2.4.1-02",
        "The receiver publishes PUBLICKEYBLOBs whose pubExp is 3 instead of 65,537.",
        change_blob_number(16, lambda exponent: 3),
    ),
    (
        "receiver-modulus-with-exchanged-words",
        "MQQB-2.4.1-03",
        "The receiver publishes PUBLICKEYBLOBs in which the first two 16-bit words of the modulus are exchanged.",
        _reverse_half,
    ),
    (
        "receiver-modulus-with-zero-byte-at-its-end",
        "MQQB-2.4.1-04",
        "The receiver publishes PUBLICKEYBLOBs whose modulus has an extra zero byte, which bitLen does not count.",
        lambda blob: blob + b"\0",
    ),
    (
        "receiver-public-key-for-signatures-published",
        "MQQB-2.4.1-D01",
        "The receiver publishes PUBLICKEYBLOBs whose constant bytes name a key for signatures (0x2400) instead of key "
        "exchange.",
        change_blob_number(4, lambda algorithm: 0x2400),
    ),
):
    add(name, rule, says, change_published_blobs(change), blind=True)
