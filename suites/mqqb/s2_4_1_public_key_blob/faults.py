"""Faults of MS-MQQB 2.4.1 PUBLICKEYBLOB, as a queue manager publishes it."""

from __future__ import annotations

from harness.faults.public_keys import blob_number, published_blobs
from harness.faults.registry import add

BITS_AT, EXPONENT_AT, MODULUS_AT = 12, 16, 20

add(
    "published-key-other-length",
    ("MQQB-2.4.1-01", "MQQB-2.4.1-04", "MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
    "bitLen of a published key is 8 bits too many.",
    published_blobs(blob_number(BITS_AT, lambda bits: bits + 8)),
)
add(
    "published-key-other-exponent",
    ("MQQB-2.4.1-02", "MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32", "MQDMPR-3.1.3-23"),
    "pubExp of a published key is not its exponent.",
    published_blobs(blob_number(EXPONENT_AT, lambda _: 3)),
)
add(
    "published-key-big-endian",
    ("MQQB-2.4.1-03", "MQMQ-2.2.20.6-33"),
    "The modulus of a published key is big-endian.",
    published_blobs(lambda blob: blob[:MODULUS_AT] + blob[MODULUS_AT:][::-1]),
)
add(
    "published-key-other-magic",
    "MQQB-2.4.1-D01",
    "A published key says RSA2, as a private one does.",
    published_blobs(lambda blob: blob[:11] + b"2" + blob[12:]),
)
