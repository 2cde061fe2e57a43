"""Faults in the key blobs that a queue manager publishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import change_core_after_every_input
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import MqdsPublicKeys


def change_published_blobs(
    change: Callable[[bytes], bytes], provider: str | None = None, key_list: str = "PublicEncryptionKeyList"
) -> Install:
    """Return an installer of a fault that changes key blobs before they are published. It changes all blobs of a list
    or, if ``provider`` is given, only the blob of this provider. Blobs that are already published stay unchanged.
    """
    made: dict[bytes, bytes] = {}

    def publish_changed_keys(qm: QueueManager) -> None:
        state = qm.enterprise.state
        published = getattr(state.LocalQueueManager, key_list)
        if not published or published in made.values():
            return
        keys = MqdsPublicKeys.parse(published)
        changed = MqdsPublicKeys(
            tuple(
                replace(key, aBuf=change(key.aBuf)) if provider in (None, key.sProviderName) else key
                for key in keys.aPublicKeys
            )
        )
        made[published] = changed.build()
        values: dict[str, Any] = {key_list: made[published]}
        state.LocalQueueManager = replace(state.LocalQueueManager, **values)

    return change_core_after_every_input(publish_changed_keys)


def change_blob_number(at: int, change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Return a function that changes the u32 at an offset of a key blob."""

    def change_number(blob: bytes) -> bytes:
        value = change(int.from_bytes(blob[at : at + 4], "little"))
        return blob[:at] + value.to_bytes(4, "little") + blob[at + 4 :]

    return change_number
