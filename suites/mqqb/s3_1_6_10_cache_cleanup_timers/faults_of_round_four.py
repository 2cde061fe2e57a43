"""Faults of MS-MQQB 3.1.6.10 ReceiveSymmetricKeyCache Cleanup Timer Event: several entries, and used entries."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security.caches import MS_PER_MINUTE
from reference_qm.surface.clock import Now


@fault("receiver-cleanup-timer-duration-from-youngest-received-key", breaks="MQQB-3.1.6.10-04", blind=True)
class ReceiverCleanupTimerDurationFromYoungestReceivedKey(CacheTimers):
    """The receiver computes the duration of the restarted cleanup timer of ReceiveSymmetricKeyCache from the age of the
    youngest entry.
    """

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        super().on_cleanup_timer(name, now)
        cache, scale, key = self.qm.caches.ReceiveSymmetricKeyCache, self.qm.settings.scale, TimerKey(name, 0)
        received = name is TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP
        if received and cache.lifetime_ms is not None and self.qm.timers.is_running(key):
            age_ms = 1000 * (now.utc_s - max(entry.CachedTime for entry in cache.entries))
            duration_ms = cache.lifetime_ms // scale + MS_PER_MINUTE // scale - age_ms
            self.qm.timers.start(key, now.monotonic_ms, duration_ms)


@fault("receiver-received-key-lifetime-counted-from-last-use", breaks="MQQB-3.1.6.10-02", blind=True)
class ReceiverReceivedKeyLifetimeCountedFromLastUse(SecurityOnReceipt):
    """Whenever an entry of ReceiveSymmetricKeyCache is used, the receiver restarts the lifetime of the entry."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        decrypted = super().decrypt_body(packet, now)
        if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
            return decrypted
        used = (packet.UserHeader.SourceQueueManager, packet.SecurityHeader.SecurityData.EncryptionKey)
        cache = self.qm.caches.get_receiving_cache(packet.MessagePropertiesHeader.PrivacyLevel)
        cache.entries = [
            replace(entry, CachedTime=now.utc_s) if (entry.RemoteQMGuid, entry.EncryptedSymmetricKey) == used else entry
            for entry in cache.entries
        ]
        return decrypted
