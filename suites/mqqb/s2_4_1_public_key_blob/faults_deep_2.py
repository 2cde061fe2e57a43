"""Faults of MS-MQQB 2.4.1 PUBLICKEYBLOB that occur only in the second of the published keys."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import always
from harness.faults.public_keys import change_blob_number
from harness.faults.registry import Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import MqdsPublicKeys


def _change_last_blob(change: object) -> Install:
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

    return always(publish_changed_key)


add(
    "receiver-last-public-key-bit-length-in-bytes",
    "MQQB-2.4.1-01",
    "The receiver publishes a last key whose bitLen is the length of the modulus in bytes.",
    _change_last_blob(change_blob_number(12, lambda bits: bits // 8)),
)
add(
    "receiver-last-public-key-exponent-3",
    "MQQB-2.4.1-02",
    "The receiver publishes a last key whose pubExp is 3.",
    _change_last_blob(change_blob_number(16, lambda old: 3)),
)
add(
    "receiver-last-public-key-modulus-big-endian",
    "MQQB-2.4.1-03",
    "The receiver publishes a last key whose modulus is in big-endian order.",
    _change_last_blob(lambda blob: blob[:20] + blob[:19:-1]),
)
