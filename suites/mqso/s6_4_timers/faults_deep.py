"""Faults of MS-MQSO 6.4 that only special cases reveal: a second entry of a cache, timers that each use restarts, and
later repetitions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.attributes import INITIALIZATION_RETRY_S
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.caches import TimedCache
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


class NewestNeverRemoved(TimedCache[Any]):
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
    replace_cache("UserCertCache", NewestNeverRemoved),
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


@fault("queue-manager-public-key-timer-restarted-by-use", breaks="MQSO-6.4.3.2-D02")
class QueueManagerPublicKeyTimerRestartedByUse(SecurityLookup):
    """Each use of a cached public key restarts the timer of the key."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        found = super().find_public_keys(guid, now)
        if guid in self.qm.enterprise.public_keys:
            self.start_public_key_cache_timer(guid, now)
        return found


@fault("queue-manager-initialization-repeated-once-only", breaks="MQSO-6.4.4.1-01")
class QueueManagerInitializationRepeatedOnceOnly(Initialization):
    """If the second attempt of a queue manager's initialization fails, the queue manager makes no third attempt."""

    def await_retry(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == INITIALIZATION_RETRY_S:
            super().await_retry(now)


@fault("queue-manager-without-directory-at-start-runs-site-timer", breaks="MQSO-6.4.1-D01")
class QueueManagerWithoutDirectoryAtStartRunsSiteTimer(DirectoryClient):
    """A queue manager that is in workgroup mode because it started without the directory runs the Directory Sites
    Update Timer.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        if answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0), now.monotonic_ms, 43_200_000)
