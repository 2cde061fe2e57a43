"""Faults of the keys that a queue manager publishes. Spec: MS-MQQB 2.4.1, MS-MQMQ 2.2.20.6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import always
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import MqdsPublicKeys

BLOB, PRINTED = "MQQB-2.4.1-", "MQMQ-2.2.20.6-"
BITS_AT, EXPONENT_AT, MODULUS_AT = 12, 16, 20


def _blobs(change: Callable[[bytes], bytes]) -> Install:
    """Publish other blobs; what is published already is left alone."""
    made: dict[bytes, bytes] = {}

    def publish(qm: QueueManager) -> None:
        state = qm.enterprise.state
        told = state.LocalQueueManager.PublicEncryptionKeyList
        if not told or told in made.values():
            return
        keys = MqdsPublicKeys.parse(told)
        changed = MqdsPublicKeys(tuple(replace(key, aBuf=change(key.aBuf)) for key in keys.aPublicKeys))
        made[told] = changed.build()
        state.LocalQueueManager = replace(state.LocalQueueManager, PublicEncryptionKeyList=made[told])

    return always(publish)


def _number(at: int, change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    def changed(blob: bytes) -> bytes:
        value = change(int.from_bytes(blob[at : at + 4], "little"))
        return blob[:at] + value.to_bytes(4, "little") + blob[at + 4 :]

    return changed


def _ids(**numbers: str) -> list[str]:
    sections = {"blob": BLOB, "printed": PRINTED}
    return [f"{sections[name]}{number}" for name, text in numbers.items() for number in text.split()]


add(
    "published-key-other-length",
    _ids(blob="01 04", printed="29 30"),
    "bitLen of a published key is 8 bits too many.",
    _blobs(_number(BITS_AT, lambda bits: bits + 8)),
)
add(
    "published-key-other-exponent",
    _ids(blob="02", printed="31 32"),
    "pubExp of a published key is not its exponent.",
    _blobs(_number(EXPONENT_AT, lambda _: 3)),
)
add(
    "published-key-big-endian",
    _ids(blob="03", printed="33"),
    "The modulus of a published key is big-endian.",
    _blobs(lambda blob: blob[:MODULUS_AT] + blob[MODULUS_AT:][::-1]),
)
