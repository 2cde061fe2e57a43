"""Faults of MS-MQQB 2.4.1 PUBLICKEYBLOB: the keys that a queue manager publishes."""

from __future__ import annotations

from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import add

BITS_AT, EXPONENT_AT, MODULUS_AT = 12, 16, 20

add(
    "receiver-public-key-blob-bitlen-8-too-many",
    ("MQQB-2.4.1-01", "MQQB-2.4.1-04", "MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
    "The receiver publishes a PUBLICKEYBLOB whose bitLen is 8 too large.",
    change_published_blobs(change_blob_number(BITS_AT, lambda bits: bits + 8)),
)
add(
    "receiver-public-key-blob-exponent-wrong",
    ("MQQB-2.4.1-02", "MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32", "MQDMPR-3.1.3-23"),
    "The receiver publishes a PUBLICKEYBLOB whose pubExp is 3 instead of the exponent of its key.",
    change_published_blobs(change_blob_number(EXPONENT_AT, lambda _: 3)),
)
add(
    "receiver-public-key-blob-modulus-big-endian",
    ("MQQB-2.4.1-03", "MQMQ-2.2.20.6-33"),
    "The receiver publishes a PUBLICKEYBLOB whose modulus is big-endian.",
    change_published_blobs(lambda blob: blob[:MODULUS_AT] + blob[MODULUS_AT:][::-1]),
)
add(
    "receiver-public-key-blob-magic-rsa2",
    "MQQB-2.4.1-D01",
    "The receiver publishes a PUBLICKEYBLOB with the magic RSA2 of a private key.",
    change_published_blobs(lambda blob: blob[:11] + b"2" + blob[12:]),
)
