"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about the caches of certificates and of the keys of received
messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import (
    AnyTimedCache,
    CacheEmptiedWhenFull,
    CacheLosingNewestHalf,
    CacheWithoutEntries,
    CacheWithTimesInMs,
    LastEntryCache,
    UnlimitedCache,
    change_cached_entries,
    omit_cleanup_timer,
    replace_cache,
    restart_cleanup_timer,
)
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.cache_timers import CACHE_NAME_BY_TIMER, CacheTimers
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.timers import TimerKey
from reference_qm.security import SecuritySettings, UserSignCert
from reference_qm.security.algorithms import BASE_PROVIDER
from reference_qm.surface.clock import Now

CERTIFICATE_CACHE_NAME, RECEIVED_KEY_CACHE_NAME = "UserCertCache", "ReceiveSymmetricKeyCache"
UNKNOWN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
NULL_SID_BYTES = b"\1\1\0\0\0\0\0\1\0\0\0\0"


class _CacheThatFindsNoEntry(AnyTimedCache):
    def find(self, matches: Callable[[Any], bool]) -> Any:
        return None


class _CacheWithoutBaseKeys(AnyTimedCache):
    def add(self, entry: Any) -> None:
        if entry.CryptoServiceProvider != BASE_PROVIDER:
            super().add(entry)


@fault(
    "receiver-cache-cleanup-timers-start-together",
    breaks=("MQQB-3.1.5.8.3-36", "MQQB-3.1.5.8.3-69", "MQQB-3.1.1.3-05"),
)
class ReceiverCacheCleanupTimersStartTogether(CacheTimers):
    """The receiver starts the cleanup timers of all security caches together."""

    def start(self, now: Now) -> None:
        super().start(now)
        for name, attribute in CACHE_NAME_BY_TIMER.items():
            lifetime_ms = getattr(self.qm.caches, attribute).lifetime_ms
            if lifetime_ms is not None and not self.qm.timers.is_running(TimerKey(name, 0)):
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, lifetime_ms // self.qm.settings.scale)


class _CacheOfReversedKeys(AnyTimedCache):
    def add(self, entry: Any) -> None:
        super().add(replace(entry, SymmetricKey=entry.SymmetricKey[::-1]))


for _name, _breaks, _says, _install in (
    # -- certificates ----------------------------------------------------------------------------------------------
    (
        "receiver-certificate-not-cached",
        ("MQQB-3.1.5.8.3-29", "MQQB-3.1.5.8.3-34", "MQQB-3.1.1.3-02", "MQQB-3.1.1.3-03", "MQSO-6.4.3.1-01"),
        "The receiver adds no certificate to UserCertCache.",
        replace_cache(CERTIFICATE_CACHE_NAME, CacheWithoutEntries),
    ),
    (
        "receiver-cached-certificate-user-cert-wrong",
        "MQQB-3.1.5.8.3-30",
        "The receiver adds an entry with a wrong UserCert to UserCertCache.",
        change_cached_entries(CERTIFICATE_CACHE_NAME, UserCert=UserSignCert()),
    ),
    (
        "receiver-cached-certificate-security-id-wrong",
        "MQQB-3.1.5.8.3-31",
        "The receiver adds an entry with a wrong SecurityID to UserCertCache.",
        change_cached_entries(CERTIFICATE_CACHE_NAME, SecurityID=NULL_SID_BYTES),
    ),
    (
        "receiver-cached-certificate-time-0",
        ("MQQB-3.1.5.8.3-32", "MQQB-3.1.5.8.3-33"),
        "The receiver adds an entry with CachedTime 0 to UserCertCache.",
        change_cached_entries(CERTIFICATE_CACHE_NAME, CachedTime=0),
    ),
    (
        "receiver-cached-certificate-time-in-ms",
        ("MQQB-3.1.5.8.3-32", "MQQB-3.1.5.8.3-33"),
        "The receiver adds an entry with CachedTime in ms to UserCertCache.",
        replace_cache(CERTIFICATE_CACHE_NAME, CacheWithTimesInMs),
    ),
    (
        "receiver-certificate-cache-unlimited",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "The receiver removes no entry from a full UserCertCache.",
        replace_cache(CERTIFICATE_CACHE_NAME, UnlimitedCache),
    ),
    (
        "receiver-certificate-cache-emptied-when-full",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "The receiver removes all entries from a full UserCertCache.",
        replace_cache(CERTIFICATE_CACHE_NAME, CacheEmptiedWhenFull),
    ),
    (
        "receiver-certificate-cache-loses-newest",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "The receiver removes the newest entries from a full UserCertCache.",
        replace_cache(CERTIFICATE_CACHE_NAME, CacheLosingNewestHalf),
    ),
    (
        "receiver-certificate-cleanup-timer-not-started",
        ("MQQB-3.1.5.8.3-36", "MQQB-3.1.1.3-05"),
        "The receiver does not start the cleanup timer of UserCertCache.",
        omit_cleanup_timer(CERTIFICATE_CACHE_NAME),
    ),
    (
        "receiver-certificate-cleanup-timer-restarted",
        ("MQQB-3.1.5.8.3-36", "MQQB-3.1.1.3-05"),
        "The receiver restarts the cleanup timer of UserCertCache when it receives a message.",
        restart_cleanup_timer(CERTIFICATE_CACHE_NAME),
    ),
    # -- keys ------------------------------------------------------------------------------------------------------
    (
        "receiver-symmetric-key-not-cached",
        "MQQB-3.1.5.8.3-67",
        "The receiver adds no key to ReceiveSymmetricKeyCache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, CacheWithoutEntries),
    ),
    (
        "receiver-symmetric-key-cache-has-one-entry",
        ("MQQB-3.1.5.8.3-57", "MQQB-3.1.5.8.3-58", "MQQB-3.1.1.3-06", "MQQB-3.1.1.3-07"),
        "The receiver's ReceiveSymmetricKeyCache has only one entry: a new key replaces the previous one.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, LastEntryCache),
    ),
    (
        "receiver-cached-key-remote-guid-wrong",
        "MQQB-3.1.5.8.3-59",
        "The receiver adds a key with a wrong RemoteQMGuid to ReceiveSymmetricKeyCache.",
        change_cached_entries(RECEIVED_KEY_CACHE_NAME, RemoteQMGuid=UNKNOWN_QUEUE_MANAGER_GUID),
    ),
    (
        "receiver-cached-key-provider-wrong",
        "MQQB-3.1.5.8.3-60",
        "The receiver adds a key with a wrong CryptoServiceProvider to ReceiveSymmetricKeyCache.",
        change_cached_entries(RECEIVED_KEY_CACHE_NAME, CryptoServiceProvider="another"),
    ),
    (
        "receiver-cached-key-algorithm-wrong",
        "MQQB-3.1.5.8.3-61",
        "The receiver adds a key with a wrong CryptoAlgorithm to ReceiveSymmetricKeyCache.",
        change_cached_entries(RECEIVED_KEY_CACHE_NAME, CryptoAlgorithm=0x6602),
    ),
    (
        "receiver-cached-key-encrypted-key-wrong",
        "MQQB-3.1.5.8.3-62",
        "The receiver adds a key with a wrong EncryptedSymmetricKey to ReceiveSymmetricKeyCache.",
        change_cached_entries(RECEIVED_KEY_CACHE_NAME, EncryptedSymmetricKey=b""),
    ),
    (
        "receiver-cached-key-time-0",
        "MQQB-3.1.5.8.3-66",
        "The receiver adds a key with CachedTime 0 to ReceiveSymmetricKeyCache.",
        change_cached_entries(RECEIVED_KEY_CACHE_NAME, CachedTime=0),
    ),
    (
        "receiver-cached-key-time-in-ms",
        "MQQB-3.1.5.8.3-66",
        "The receiver adds a key with CachedTime in ms to ReceiveSymmetricKeyCache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, CacheWithTimesInMs),
    ),
    (
        "receiver-symmetric-key-cache-unlimited",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "The receiver removes no key from a full ReceiveSymmetricKeyCache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, UnlimitedCache),
    ),
    (
        "receiver-symmetric-key-cache-emptied-when-full",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "The receiver removes all keys from a full ReceiveSymmetricKeyCache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, CacheEmptiedWhenFull),
    ),
    (
        "receiver-symmetric-key-cache-loses-newest",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "The receiver removes the newest keys from a full ReceiveSymmetricKeyCache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, CacheLosingNewestHalf),
    ),
    (
        "receiver-symmetric-key-cleanup-timer-not-started",
        "MQQB-3.1.5.8.3-69",
        "The receiver does not start the cleanup timer of ReceiveSymmetricKeyCache.",
        omit_cleanup_timer(RECEIVED_KEY_CACHE_NAME),
    ),
    (
        "receiver-symmetric-key-cleanup-timer-restarted",
        "MQQB-3.1.5.8.3-69",
        "The receiver restarts the cleanup timer of ReceiveSymmetricKeyCache when it receives a message.",
        restart_cleanup_timer(RECEIVED_KEY_CACHE_NAME),
    ),
    (
        "receiver-symmetric-key-cache-not-searched",
        "MQQB-3.1.5.8.3-55",
        "The receiver caches the keys of messages, but does not search the cache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, _CacheThatFindsNoEntry),
    ),
    (
        "receiver-cached-symmetric-key-bytes-reversed",
        "MQQB-3.1.5.8.3-56",
        "The receiver uses the bytes of a cached key in reverse order.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, _CacheOfReversedKeys),
    ),
):
    add(_name, _breaks, _says, _install)
add(
    "receiver-base-provider-key-not-cached",
    "MQQB-3.1.5.8.3-67",
    "The receiver adds no key of the Base provider to ReceiveSymmetricKeyCache.",
    replace_cache(RECEIVED_KEY_CACHE_NAME, _CacheWithoutBaseKeys),
)


_DEFAULT_SECURITY_SETTINGS = SecuritySettings()
_PREFERRED_ALGORITHM_BY_PROVIDER = {
    "Microsoft Base Cryptographic Provider v1.0": _DEFAULT_SECURITY_SETTINGS.PreferredBaseAlgorithm,
    "Microsoft Enhanced Cryptographic Provider v1.0": _DEFAULT_SECURITY_SETTINGS.PreferredEnhancedAlgorithm,
    "Microsoft Enhanced RSA and AES Cryptographic Provider": _DEFAULT_SECURITY_SETTINGS.PreferredAdvancedAlgorithm,
}


@fault("receiver-known-certificate-taken-for-other-user", breaks="MQQB-3.1.5.8.3-37", blind=True)
class ReceiverKnownCertificateTakenForOtherUser(SecurityOnReceipt):
    """The receiver accepts a message whose certificate is registered for a different user, after it has accepted a
    message of that user with this certificate.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS and security.ST:
            certificate = security.SecurityData.SenderCert
            if self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate) is not None:
                return
        super().verify_sender(packet, now)


class _PreferredAlgorithmStoringCache(AnyTimedCache):
    """A cache whose entries show the preferred algorithm of their provider."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._algorithms: dict[bytes, int] = {}

    def find(self, matches: Any) -> Any:
        """Return the first entry for which the condition holds when the entry contains the algorithm of its own key."""
        return super().find(
            lambda entry: matches(replace(entry, CryptoAlgorithm=self._algorithms[entry.EncryptedSymmetricKey]))
        )

    def add(self, entry: Any) -> None:
        self._algorithms[entry.EncryptedSymmetricKey] = entry.CryptoAlgorithm
        super().add(replace(entry, CryptoAlgorithm=_PREFERRED_ALGORITHM_BY_PROVIDER[entry.CryptoServiceProvider]))


add(
    "receiver-cached-key-crypto-algorithm-preferred-of-provider",
    "MQQB-3.1.5.8.3-61",
    "The receiver sets CryptoAlgorithm of a CachedSymmetricKey to the algorithm that it prefers for the provider.",
    replace_cache("ReceiveSymmetricKeyCache", _PreferredAlgorithmStoringCache),
    blind=True,
)
