"""Faults that break rules of MS-MQQB 3.1.3.1."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.part import QM
from reference_qm.model.attributes import ServiceState
from reference_qm.security.algorithms import BASE_PROVIDER

_LAST: WeakValueDictionary[int, QM] = WeakValueDictionary()
"""The latest process of each queue manager. The processes of a queue manager share its source of random values."""


def _replace_last_process(qm: QM) -> QM | None:
    """Store the process of a queue manager; return its previous process, or None for its first process."""
    last = _LAST.get(id(qm.entropy))
    _LAST[id(qm.entropy)] = qm
    return last


@fault("receiver-base-keys-of-earlier-process-in-receive-base-cache", breaks="MQQB-3.1.3.1-12", blind=True)
class ReceiverBaseKeysOfEarlierProcessInReceiveBaseCache(Restoring):
    """The receiver starts with the symmetric keys of the Base provider that it received before the restart in
    ReceiveBaseSymmetricKeyCache.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        last = _replace_last_process(self.qm)
        if entries and last is not None:
            kept = self.qm.caches.ReceiveBaseSymmetricKeyCache.entries
            for cache in (last.caches.ReceiveBaseSymmetricKeyCache, last.caches.ReceiveSymmetricKeyCache):
                kept += [key for key in cache.entries if key.CryptoServiceProvider == BASE_PROVIDER]


@fault("sender-send-symmetric-key-cache-kept-over-stop-and-start", breaks="MQQB-3.1.3.1-14", blind=True)
class SenderSendSymmetricKeyCacheKeptOverStopAndStart(Restoring):
    """The sender starts with the entries that SendSymmetricKeyCache had when the queue manager was stopped; a process
    that is killed loses the entries.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        last = _replace_last_process(self.qm)
        if entries and last is not None and last.adm.QueueManagerState is ServiceState.STOPPED:
            self.qm.caches.SendSymmetricKeyCache.entries += last.caches.SendSymmetricKeyCache.entries
