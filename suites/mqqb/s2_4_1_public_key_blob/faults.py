"""Faults that break rules of MS-MQQB 2.4.1 PUBLICKEYBLOB."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import change_core_after_every_input
from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import MqdsPublicKeys

OFFSET_OF_KEY_BIT_LENGTH_IN_BLOB = 12


add(
    "receiver-public-key-blob-bitlen-8-too-many",
    ("MQQB-2.4.1-01", "MQQB-2.4.1-04", "MQMQ-2.2.20.6-29", "MQMQ-2.2.20.6-30"),
    "The receiver publishes a PUBLICKEYBLOB whose bitLen is 8 too large.",
    change_published_blobs(change_blob_number(OFFSET_OF_KEY_BIT_LENGTH_IN_BLOB, lambda bits: bits + 8)),
)


MODULUS_OFFSET = 20


def _swap_first_modulus_words(blob: bytes) -> bytes:
    modulus = blob[MODULUS_OFFSET:]
    return blob[:MODULUS_OFFSET] + modulus[2:4] + modulus[:2] + modulus[4:]


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
        _swap_first_modulus_words,
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


def _change_last_published_key_blob(change: object) -> Install:
    made: dict[bytes, bytes] = {}

    def publish_changed_key(qm: QueueManager) -> None:
        state = qm.enterprise.state
        published = state.LocalQueueManager.PublicEncryptionKeyList
        if not published or published in made.values():
            return
        *first, last = MqdsPublicKeys.parse(published).aPublicKeys
        changed = MqdsPublicKeys((*first, replace(last, aBuf=change(last.aBuf))))  # type: ignore[operator]
        made[published] = changed.build()
        state.LocalQueueManager = replace(state.LocalQueueManager, PublicEncryptionKeyList=made[published])

    return change_core_after_every_input(publish_changed_key)


add(
    "receiver-last-public-key-bit-length-in-bytes",
    "MQQB-2.4.1-01",
    "The receiver publishes a last key whose bitLen is the length of the modulus in bytes.",
    _change_last_published_key_blob(change_blob_number(12, lambda bits: bits // 8)),
)


EXPONENT_OFFSET = 16


add(
    "receiver-public-key-blob-exponent-wrong",
    ("MQQB-2.4.1-02", "MQMQ-2.2.20.6-31", "MQMQ-2.2.20.6-32", "MQDMPR-3.1.3-23"),
    "The receiver publishes a PUBLICKEYBLOB whose pubExp is 3 instead of the exponent of its key.",
    change_published_blobs(change_blob_number(EXPONENT_OFFSET, lambda _: 3)),
)


add(
    "receiver-last-public-key-exponent-3",
    "MQQB-2.4.1-02",
    "The receiver publishes a last key whose pubExp is 3.",
    _change_last_published_key_blob(change_blob_number(16, lambda old: 3)),
)


add(
    "receiver-public-key-blob-modulus-big-endian",
    ("MQQB-2.4.1-03", "MQMQ-2.2.20.6-33"),
    "The receiver publishes a PUBLICKEYBLOB whose modulus is big-endian.",
    change_published_blobs(lambda blob: blob[:MODULUS_OFFSET] + blob[MODULUS_OFFSET:][::-1]),
)


add(
    "receiver-last-public-key-modulus-big-endian",
    "MQQB-2.4.1-03",
    "The receiver publishes a last key whose modulus is in big-endian order.",
    _change_last_published_key_blob(lambda blob: blob[:20] + blob[:19:-1]),
)


add(
    "receiver-public-key-blob-magic-rsa2",
    "MQQB-2.4.1-D01",
    "The receiver publishes a PUBLICKEYBLOB with the magic RSA2 of a private key.",
    change_published_blobs(lambda blob: blob[:11] + b"2" + blob[12:]),
)
