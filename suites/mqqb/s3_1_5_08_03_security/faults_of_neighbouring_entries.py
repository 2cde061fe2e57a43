"""Faults in the caches of the receiver when a later key or certificate arrives (MS-MQQB 3.1.5.8.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import Cache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface.clock import Now


class _OnlyNewestFound(Cache):
    """A cache in which only the newest entry is found."""

    def find(self, matches: Callable[[Any], bool]) -> Any:
        return next((entry for entry in self.entries[-1:] if matches(entry)), None)


class _OneKeyPerSender(Cache):
    """A cache that does not store a second key of the same queue manager."""

    def add(self, entry: Any) -> None:
        if all(kept.RemoteQMGuid != entry.RemoteQMGuid for kept in self.entries):
            super().add(entry)


add(
    "receiver-receive-symmetric-key-cache-only-newest-key-used",
    "MQQB-3.1.5.8.3-55",
    "The receiver uses only the newest key in ReceiveSymmetricKeyCache.",
    replace_cache("ReceiveSymmetricKeyCache", _OnlyNewestFound),
    blind=True,
)


@fault(
    "receiver-receive-symmetric-key-cache-key-of-transactional-message-not-added",
    breaks="MQQB-3.1.5.8.3-67",
    blind=True,
)
class ReceiverReceiveSymmetricKeyCacheKeyOfTransactionalMessageNotAdded(SecurityOnReceipt):
    """The receiver adds no CachedSymmetricKey for a transactional message to ReceiveSymmetricKeyCache."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cache = self.qm.caches.ReceiveSymmetricKeyCache
        kept = list(cache.entries)
        try:
            return super().decrypt_body(packet, now)
        finally:
            if packet.TransactionHeader is not None:
                cache.entries[:] = kept
