"""Faults in the timers of single cached certificates and keys, and in the timers of the directory."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.attributes import INITIALIZATION_RETRY_S
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import MqdsPublicKeys
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport
from reference_qm.surface.inputs import TransportAccepted

CERTIFICATE_CACHE_CLEANUP_TIMER = TimerName.USER_CERT_CACHE_CLEANUP


@fault("queue-manager-directory-timers-after-start-without-directory-running", breaks="MQSO-6.4.1-D01", blind=True)
class QueueManagerDirectoryTimersAfterStartWithoutDirectoryRunning(QueueManagerInitialization):
    """If a queue manager is in workgroup mode because it started without its directory, it runs the timers that update
    its data from the directory.
    """

    def begin(self, now: Now) -> None:
        super().begin(now)
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            for name in (TimerName.DIRECTORY_SITES_UPDATE, TimerName.DIRECTORY_SITE_GATES_UPDATE):
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, self.qm.settings.directory_sites_update_ms)


@fault("queue-manager-site-gates-timer-of-workgroup-installation-running", breaks="MQSO-6.4.1-D01", blind=True)
class QueueManagerSiteGatesTimerOfWorkgroupInstallationRunning(DirectoryClient):
    """A queue manager without a directory runs the Directory Site Gates Update Timer."""

    def initialize_from_directory(self, now: Now) -> None:
        super().initialize_from_directory(now)
        if not self.qm.config.directory_integrated:
            duration_ms = self.qm.settings.directory_site_gates_update_ms // self.qm.settings.scale
            self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0), now.monotonic_ms, duration_ms)


@fault(
    "queue-manager-lifetime-of-used-certificate-renewed",
    breaks=("MQSO-6.4.3.1-01", "MQSO-6.4.3.1-D01", "MQSO-6.4.3.1-D02"),
    blind=True,
)
class QueueManagerLifetimeOfUsedCertificateRenewed(SecurityOnReceipt):
    """Each use of a cached certificate begins the lifetime of the certificate again."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        cache, header = self.qm.caches.UserCertCache, packet.SecurityHeader
        certificate = b"" if header is None else header.SecurityData.SenderCert
        for place, one in enumerate(cache.entries):
            if one.UserCert.Certificate == certificate:
                cache.entries[place] = replace(one, CachedTime=now.utc_s)


@fault("queue-manager-certificate-cache-cleaned-once", breaks=("MQSO-6.4.3.1-01", "MQSO-6.4.3.1-D01"), blind=True)
class QueueManagerCertificateCacheCleanedOnce(CacheTimers):
    """A queue manager removes certificates from its cache only when the timer expires for the first time."""

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        if name is CERTIFICATE_CACHE_CLEANUP_TIMER:
            if self.__dict__.get("is_cleaned"):
                return
            self.__dict__["is_cleaned"] = True
        super().on_cleanup_timer(name, now)


@fault("queue-manager-second-expired-certificate-kept", breaks="MQSO-6.4.3.1-D01", blind=True)
class QueueManagerSecondExpiredCertificateKept(CacheTimers):
    """When several cached certificates have expired, a queue manager removes only the first of them."""

    def on_cleanup_timer(self, name: TimerName, now: Now) -> None:
        cache = self.qm.caches.UserCertCache
        before = list(cache.entries)
        super().on_cleanup_timer(name, now)
        if name is CERTIFICATE_CACHE_CLEANUP_TIMER:
            expired = [one for one in before if one not in cache.entries]
            cache.entries += expired[1:]


@fault("queue-manager-public-key-removed-once", breaks="MQSO-6.4.3.2-D01", blind=True)
class QueueManagerPublicKeyRemovedOnce(SecurityLookup):
    """A queue manager removes a cached public key only when a timer of a public key expires for the first time."""

    def on_public_key_cache_timer(self, owner: int) -> None:
        if not self.__dict__.get("has_removed"):
            super().on_public_key_cache_timer(owner)
        self.__dict__["has_removed"] = True


@fault("queue-manager-public-key-used-before-expiry-kept", breaks="MQSO-6.4.3.2-D01", blind=True)
class QueueManagerPublicKeyUsedBeforeExpiryKept(SecurityLookup):
    """When the timer of a cached public key expires, a queue manager keeps the key if it has used the key several
    times.
    """

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        uses: dict[int, int] = self.__dict__.setdefault("uses", {})
        uses[guid.int] = uses.get(guid.int, 0) + 1
        return super().find_public_keys(guid, now)

    def on_public_key_cache_timer(self, owner: int) -> None:
        if self.__dict__.setdefault("uses", {}).get(owner, 0) <= 1:
            super().on_public_key_cache_timer(owner)


@fault("queue-manager-public-key-timer-of-second-key-not-started", breaks="MQSO-6.4.3.2-D02", blind=True)
class QueueManagerPublicKeyTimerOfSecondKeyNotStarted(SecurityLookup):
    """A queue manager does not start the timer of a public key while another public key is in the cache."""

    def start_public_key_cache_timer(self, guid: UUID, now: Now) -> None:
        if set(self.qm.enterprise.public_keys) <= {guid}:
            super().start_public_key_cache_timer(guid, now)


@fault("queue-manager-later-expiry-of-initialization-retry-timer-ignored", breaks="MQSO-6.4.4.1-01", blind=True)
class QueueManagerLaterExpiryOfInitializationRetryTimerIgnored(QueueManagerInitialization):
    """A queue manager repeats its initialization only when the Initialization Retry Timer expires for the first
    time.
    """

    def start_initialization_retry_timer(self, now: Now) -> None:
        self.__dict__["is_later"] = self.qm.adm.InitializationRetryTimerDuration != INITIALIZATION_RETRY_S
        super().start_initialization_retry_timer(now)

    def on_initialization_retry_timer(self) -> None:
        if not self.__dict__.get("is_later"):
            super().on_initialization_retry_timer()


@fault("queue-manager-session-after-repeated-initialization-refused", breaks="MQSO-6.4.4.1-01", blind=True)
class QueueManagerSessionAfterRepeatedInitializationRefused(SessionOpening):
    """After a queue manager has successfully repeated its initialization, it accepts no sessions."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == INITIALIZATION_RETRY_S:
            super().accept_transport(event, now)
        else:
            self.qm.emit_effect(CloseTransport(event.transport, "the initialization was repeated"))
