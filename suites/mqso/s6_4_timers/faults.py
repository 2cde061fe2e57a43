"""Faults that break rules of MS-MQSO 6.4 Timers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory import DirectoryOperationResult
from reference_qm.model.attributes import INITIALIZATION_RETRY_S
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("directory-timer-runs-in-workgroup-mode", breaks="MQSO-6.4.1-D01")
class DirectoryTimerRunsInWorkgroupMode(DirectoryClient):
    """A queue manager in workgroup mode runs the Directory Sites Update Timer."""

    def initialize_from_directory(self, now: Now) -> None:
        super().initialize_from_directory(now)
        self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)


@fault("directory-timer-runs-after-start-without-directory", breaks="MQSO-6.4.1-D01")
class DirectoryTimerRunsAfterStartWithoutDirectory(DirectoryClient):
    """A queue manager that is in workgroup mode, because it found no directory at its start, runs the Directory Sites
    Update Timer.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self._start_timer(TimerName.DIRECTORY_SITES_UPDATE, now)


@fault("queue-manager-without-directory-at-start-runs-site-timer", breaks="MQSO-6.4.1-D01")
class QueueManagerWithoutDirectoryAtStartRunsSiteTimer(DirectoryClient):
    """If a queue manager is in workgroup mode because it started without the directory, it runs the Directory Sites
    Update Timer.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0), now.monotonic_ms, 43_200_000)


class NewestEntryKeepingCache(TimedCache[Any]):
    """A cache whose newest entry is never removed."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Remove the expired entries except the newest."""
        newest = self.entries[-1:]
        again = super().delete_old_entries(now, scale)
        self.entries = self.entries or newest
        return again


add(
    "queue-manager-newest-cached-certificate-never-removed",
    "MQSO-6.4.3.1-D01",
    "A queue manager removes expired certificates from its cache, except the certificate that it cached last.",
    replace_cache("UserCertCache", NewestEntryKeepingCache),
)


class CacheCleanedOnlyOnce(TimedCache[Any]):
    """A cache that removes expired entries only once."""

    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        """Remove the expired entries, but only the first time."""
        kept, before = list(self.entries), getattr(self, "done", False)
        again = super().delete_old_entries(now, scale)
        if before:
            self.entries = kept
        self.done = before or len(self.entries) < len(kept)
        return again


add(
    "queue-manager-certificates-removed-only-once",
    "MQSO-6.4.3.1-D01",
    "A queue manager removes expired certificates once; a certificate that it caches later stays.",
    replace_cache("UserCertCache", CacheCleanedOnlyOnce),
)


@fault("queue-manager-certificate-timer-restarted-by-use", breaks="MQSO-6.4.3.1-D02")
class QueueManagerCertificateTimerRestartedByUse(SecurityOnReceipt):
    """Each use of a cached certificate restarts the lifetime of the certificate."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        cache = self.qm.caches.UserCertCache
        data = None if packet.SecurityHeader is None else packet.SecurityHeader.SecurityData
        cache.entries = [
            replace(one, CachedTime=now.utc_s) if data is not None and one.SecurityID == data.SecurityID else one
            for one in cache.entries
        ]


class CacheWithTimeOfOldestEntry(TimedCache[Any]):
    """A cache in which each entry has the time of the oldest entry."""

    def add(self, entry: Any) -> None:
        super().add(replace(entry, CachedTime=self.entries[0].CachedTime) if self.entries else entry)


add(
    "queue-manager-certificate-timer-of-first-certificate",
    "MQSO-6.4.3.1-D02",
    "The lifetime of each cached certificate begins when the oldest certificate enters the cache.",
    replace_cache("UserCertCache", CacheWithTimeOfOldestEntry),
)


add(
    "public-key-cache-never-expires",
    ("MQSO-6.4.3.2-D01", "MQSO-6.4.3.2-D02"),
    "The queue manager never removes a cached public key.",
    omit_step(SecurityLookup.on_public_key_cache_timer),
)


@fault("queue-manager-public-key-removed-from-cache-but-kept-by-session", breaks="MQSO-6.4.3.2-D01")
class QueueManagerPublicKeyRemovedFromCacheButKeptBySession(SecurityLookup):
    """After a cached public key has expired, a queue manager continues to use it, even if the directory contains a
    different key.
    """

    def on_public_key_cache_timer(self, owner: int) -> None:
        self.old = {**getattr(self, "old", {}), UUID(int=owner): self.qm.enterprise.public_keys.get(UUID(int=owner))}
        super().on_public_key_cache_timer(owner)

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        old = getattr(self, "old", {}).get(guid)
        return MqdsPublicKeys.parse(old) if old else super().find_public_keys(guid, now)


@fault("queue-manager-public-key-removed-only-once", breaks="MQSO-6.4.3.2-D01")
class QueueManagerPublicKeyRemovedOnlyOnce(SecurityLookup):
    """A queue manager removes a cached public key at the first expiry, but not a key that it cached again."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        if owner not in getattr(self, "removed", ()):
            self.removed = (*getattr(self, "removed", ()), owner)
            super().on_public_key_cache_timer(owner)


LONGEST_TIMER_MS = 0x7FFFFFFF


@fault("queue-manager-public-key-timer-not-restarted-at-second-caching", breaks="MQSO-6.4.3.2-D02")
class QueueManagerPublicKeyTimerNotRestartedAtSecondCaching(SecurityLookup):
    """The timer of a public key starts only when the key is cached for the first time, not when it is cached again."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        super().on_public_key_cache_timer(owner)
        self.qm.settings = replace(self.qm.settings, public_key_cache_ms=LONGEST_TIMER_MS)


@fault("queue-manager-public-key-timer-restarted-by-use", breaks="MQSO-6.4.3.2-D02")
class QueueManagerPublicKeyTimerRestartedByUse(SecurityLookup):
    """Each use of a cached public key restarts the timer of the key."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        found = super().find_public_keys(guid, now)
        if guid in self.qm.enterprise.public_keys:
            self.start_public_key_cache_timer(guid, now)
        return found


@fault("queue-manager-initialization-repeated-once-only", breaks="MQSO-6.4.4.1-01")
class QueueManagerInitializationRepeatedOnceOnly(QueueManagerInitialization):
    """If the second attempt of a queue manager's initialization fails, the queue manager makes no third attempt."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == INITIALIZATION_RETRY_S:
            super().start_initialization_retry_timer(now)


@fault("receiver-certificate-timer-restarted-by-next-certificate", breaks="MQSO-6.4.3.1-D02", blind=True)
class ReceiverCertificateTimerRestartedByNextCertificate(SecurityOnReceipt):
    """When a certificate enters the cache, the timers of all cached certificates start again."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        cache = self.qm.caches.UserCertCache
        before = len(cache)
        super().verify_sender(packet, now)
        if len(cache) > before:
            cache.entries = [replace(one, CachedTime=now.utc_s) for one in cache.entries]
            self.qm.timers.stop(TimerKey(TimerName.USER_CERT_CACHE_CLEANUP, 0))
            self.qm.cache_timers.start(now)
