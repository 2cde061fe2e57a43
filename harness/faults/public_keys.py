"""Faults in the key blobs that a queue manager publishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import always
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import MqdsPublicKeys


def change_published_blobs(change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes key blobs before they are published. Blobs that are already
    published stay unchanged.
    """
    made: dict[bytes, bytes] = {}

    def publish_changed_keys(qm: QueueManager) -> None:
        state = qm.enterprise.state
        published = state.LocalQueueManager.PublicEncryptionKeyList
        if not published or published in made.values():
            return
        keys = MqdsPublicKeys.parse(published)
        changed = MqdsPublicKeys(tuple(replace(key, aBuf=change(key.aBuf)) for key in keys.aPublicKeys))
        made[published] = changed.build()
        state.LocalQueueManager = replace(state.LocalQueueManager, PublicEncryptionKeyList=made[published])

    return always(publish_changed_keys)


def change_blob_number(at: int, change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Return a function that changes the u32 at an offset of a key blob."""

    def change_number(blob: bytes) -> bytes:
        value = change(int.from_bytes(blob[at : at + 4], "little"))
        return blob[:at] + value.to_bytes(4, "little") + blob[at + 4 :]

    return change_number
