"""Faults of the keys that a queue manager publishes. Spec: MS-MQQB 3.1.7.1.5, MS-MQMQ 2.2.20.6."""

from __future__ import annotations

from harness.faults.public_keys import blob_number, published_blobs
from harness.faults.registry import add

TYPE_AT = 4


PRINTED = "MQMQ-2.2.20.6-"


def _ids(**numbers: str) -> list[str]:
    sections = {"printed": PRINTED, "section": "MQQB-3.1.7.1.5"}
    return [f"{sections[name]}{number}" for name, text in numbers.items() for number in text.split()]


add(
    "published-key-for-signing",
    _ids(section="-11 .2-02", printed="28"),
    "A published key calls itself one for signing.",
    published_blobs(blob_number(TYPE_AT, lambda _: 0x2400)),
)
add(
    "published-key-padded",
    _ids(section="-10", printed="34 35"),
    "The modulus of a published key is followed by a byte of ones.",
    published_blobs(lambda blob: blob + b"\xff"),
)
