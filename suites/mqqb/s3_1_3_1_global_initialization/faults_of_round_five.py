"""Blind violations of round five: MS-MQQB 3.1.3.1 Global Initialization."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.part import QM

_LATEST_PROCESS_BY_ENTROPY_ID: WeakValueDictionary[int, QM] = WeakValueDictionary()
"""The latest process of each queue manager. The processes of a queue manager share its source of random values."""


@fault("receiver-newest-base-key-in-cache-after-restart", breaks="MQQB-3.1.3.1-12", blind=True)
class ReceiverNewestBaseKeyInCacheAfterRestart(Restoring):
    """After a restart, ReceiveBaseSymmetricKeyCache of the receiver contains its newest key from before the restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        last = _LATEST_PROCESS_BY_ENTROPY_ID.get(id(self.qm.entropy))
        _LATEST_PROCESS_BY_ENTROPY_ID[id(self.qm.entropy)] = self.qm
        if last is not None:
            newest = last.caches.ReceiveBaseSymmetricKeyCache.entries[-1:]
            self.qm.caches.ReceiveBaseSymmetricKeyCache.entries += newest
