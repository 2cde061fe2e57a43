"""Faults of MS-MQQB 3.1.5.8.3 Security, written without reading the checks."""

from __future__ import annotations

from operator import attrgetter

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface.clock import Now


@fault("receiver-symmetric-key-cache-halved-one-key-early", breaks="MQQB-3.1.5.8.3-68", blind=True)
class ReceiverSymmetricKeyCacheHalvedOneKeyEarly(SecurityOnReceipt):
    """When a new key makes the number of keys equal to ReceiveSymmetricKeyCacheSize, the receiver already discards the
    oldest half of ReceiveSymmetricKeyCache.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cache, size = self.qm.caches.ReceiveSymmetricKeyCache, self.qm.caches.settings.ReceiveSymmetricKeyCacheSize
        before = len(cache)
        decrypted = super().decrypt_body(packet, now)
        if before < len(cache) == size:
            *earlier, newest = cache.entries
            earlier.sort(key=attrgetter("CachedTime"))
            cache.entries[:] = [*earlier[size // 2 :], newest]
        return decrypted
