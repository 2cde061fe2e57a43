"""Faults of MS-MQQB 3.1.5.8.3 Security: the caches of certificates and of the keys of received messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import (
    Cache,
    CachedInMs,
    EmptiedWhenFull,
    NewestLost,
    NothingCached,
    OnlyTheLast,
    WithoutLimit,
    cache_replaced,
    cached_with,
    cleanup_not_started,
    cleanup_started_again,
)
from reference_qm.core.names.cache_timers import CACHE_TIMERS, CacheTimers
from reference_qm.model.timers import TimerKey
from reference_qm.security import UserSignCert
from reference_qm.security.algorithms import BASE_PROVIDER
from reference_qm.surface.clock import Now

CERTIFICATES, RECEIVED_KEYS = "UserCertCache", "ReceiveSymmetricKeyCache"
NOBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
ANONYMOUS = b"\1\1\0\0\0\0\0\1\0\0\0\0"


class _NotSearched(Cache):
    def find(self, matches: Callable[[Any], bool]) -> Any:
        return None


class _BaseKeysElsewhere(Cache):
    def add(self, entry: Any) -> None:
        if entry.CryptoServiceProvider != BASE_PROVIDER:
            super().add(entry)


@fault(
    "cleanup-timers-start-together",
    breaks=("MQQB-3.1.5.8.3-36", "MQQB-3.1.5.8.3-69", "MQQB-3.1.1.3-05"),
)
class TimersStartTogether(CacheTimers):
    """What starts the timer of one cache starts those of all."""

    def start(self, now: Now) -> None:
        super().start(now)
        for name, attribute in CACHE_TIMERS.items():
            lifetime_ms = getattr(self.qm.caches, attribute).lifetime_ms
            if lifetime_ms is not None and not self.qm.timers.is_running(TimerKey(name, 0)):
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, lifetime_ms // self.qm.settings.scale)


class _KeysBackwards(Cache):
    def add(self, entry: Any) -> None:
        super().add(replace(entry, SymmetricKey=entry.SymmetricKey[::-1]))


for _name, _breaks, _says, _install in (
    # -- certificates ----------------------------------------------------------------------------------------------
    (
        "certificate-not-cached",
        ("MQQB-3.1.5.8.3-29", "MQQB-3.1.5.8.3-34", "MQQB-3.1.1.3-02", "MQQB-3.1.1.3-03", "MQSO-6.4.3.1-01"),
        "Nothing is put into UserCertCache.",
        cache_replaced(CERTIFICATES, NothingCached),
    ),
    (
        "certificate-cached-with-other-usercert",
        "MQQB-3.1.5.8.3-30",
        "UserCert of what is put into UserCertCache is something else.",
        cached_with(CERTIFICATES, UserCert=UserSignCert()),
    ),
    (
        "certificate-cached-with-other-securityid",
        "MQQB-3.1.5.8.3-31",
        "SecurityID of what is put into UserCertCache is something else.",
        cached_with(CERTIFICATES, SecurityID=ANONYMOUS),
    ),
    (
        "certificate-cached-at-the-epoch",
        ("MQQB-3.1.5.8.3-32", "MQQB-3.1.5.8.3-33"),
        "CachedTime in UserCertCache is 0.",
        cached_with(CERTIFICATES, CachedTime=0),
    ),
    (
        "certificate-cached-in-ms",
        ("MQQB-3.1.5.8.3-32", "MQQB-3.1.5.8.3-33"),
        "CachedTime in UserCertCache is in ms.",
        cache_replaced(CERTIFICATES, CachedInMs),
    ),
    (
        "certificate-cache-without-limit",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "UserCertCache grows without a limit.",
        cache_replaced(CERTIFICATES, WithoutLimit),
    ),
    (
        "certificate-cache-emptied-when-full",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "UserCertCache is emptied when it is full.",
        cache_replaced(CERTIFICATES, EmptiedWhenFull),
    ),
    (
        "certificate-cache-loses-the-newest",
        ("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04"),
        "UserCertCache loses the newest entries when it is full.",
        cache_replaced(CERTIFICATES, NewestLost),
    ),
    (
        "certificate-timer-not-started",
        ("MQQB-3.1.5.8.3-36", "MQQB-3.1.1.3-05"),
        "The cleanup timer of UserCertCache is not started.",
        cleanup_not_started(CERTIFICATES),
    ),
    (
        "certificate-timer-started-again",
        ("MQQB-3.1.5.8.3-36", "MQQB-3.1.1.3-05"),
        "The cleanup timer of UserCertCache is started again with every message.",
        cleanup_started_again(CERTIFICATES),
    ),
    # -- keys ------------------------------------------------------------------------------------------------------
    (
        "received-key-not-cached",
        "MQQB-3.1.5.8.3-67",
        "Nothing is put into ReceiveSymmetricKeyCache.",
        cache_replaced(RECEIVED_KEYS, NothingCached),
    ),
    (
        "received-key-cached-once",
        ("MQQB-3.1.5.8.3-57", "MQQB-3.1.5.8.3-58", "MQQB-3.1.1.3-06", "MQQB-3.1.1.3-07"),
        "ReceiveSymmetricKeyCache has one entry: the last key takes the place of the one before.",
        cache_replaced(RECEIVED_KEYS, OnlyTheLast),
    ),
    (
        "received-key-cached-with-other-remoteqmguid",
        "MQQB-3.1.5.8.3-59",
        "RemoteQMGuid of what is put into ReceiveSymmetricKeyCache is something else.",
        cached_with(RECEIVED_KEYS, RemoteQMGuid=NOBODY),
    ),
    (
        "received-key-cached-with-other-cryptoserviceprovider",
        "MQQB-3.1.5.8.3-60",
        "CryptoServiceProvider of what is put into ReceiveSymmetricKeyCache is something else.",
        cached_with(RECEIVED_KEYS, CryptoServiceProvider="another"),
    ),
    (
        "received-key-cached-with-other-cryptoalgorithm",
        "MQQB-3.1.5.8.3-61",
        "CryptoAlgorithm of what is put into ReceiveSymmetricKeyCache is something else.",
        cached_with(RECEIVED_KEYS, CryptoAlgorithm=0x6602),
    ),
    (
        "received-key-cached-with-other-encryptedsymmetrickey",
        "MQQB-3.1.5.8.3-62",
        "EncryptedSymmetricKey of what is put into ReceiveSymmetricKeyCache is something else.",
        cached_with(RECEIVED_KEYS, EncryptedSymmetricKey=b""),
    ),
    (
        "received-key-cached-at-the-epoch",
        "MQQB-3.1.5.8.3-66",
        "CachedTime in ReceiveSymmetricKeyCache is 0.",
        cached_with(RECEIVED_KEYS, CachedTime=0),
    ),
    (
        "received-key-cached-in-ms",
        "MQQB-3.1.5.8.3-66",
        "CachedTime in ReceiveSymmetricKeyCache is in ms.",
        cache_replaced(RECEIVED_KEYS, CachedInMs),
    ),
    (
        "received-key-cache-without-limit",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "ReceiveSymmetricKeyCache grows without a limit.",
        cache_replaced(RECEIVED_KEYS, WithoutLimit),
    ),
    (
        "received-key-cache-emptied-when-full",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "ReceiveSymmetricKeyCache is emptied when it is full.",
        cache_replaced(RECEIVED_KEYS, EmptiedWhenFull),
    ),
    (
        "received-key-cache-loses-the-newest",
        ("MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09"),
        "ReceiveSymmetricKeyCache loses the newest entries when it is full.",
        cache_replaced(RECEIVED_KEYS, NewestLost),
    ),
    (
        "received-key-timer-not-started",
        "MQQB-3.1.5.8.3-69",
        "The cleanup timer of ReceiveSymmetricKeyCache is not started.",
        cleanup_not_started(RECEIVED_KEYS),
    ),
    (
        "received-key-timer-started-again",
        "MQQB-3.1.5.8.3-69",
        "The cleanup timer of ReceiveSymmetricKeyCache is started again with every message.",
        cleanup_started_again(RECEIVED_KEYS),
    ),
    (
        "security-received-key-not-searched",
        "MQQB-3.1.5.8.3-55",
        "Keys of received messages are cached, but not searched.",
        cache_replaced(RECEIVED_KEYS, _NotSearched),
    ),
    (
        "security-cached-key-garbled",
        "MQQB-3.1.5.8.3-56",
        "A key that is found in the cache is used backwards.",
        cache_replaced(RECEIVED_KEYS, _KeysBackwards),
    ),
):
    add(_name, _breaks, _says, _install)
add(
    "received-base-keys-elsewhere",
    "MQQB-3.1.5.8.3-67",
    "Keys of the Base provider are not put into ReceiveSymmetricKeyCache.",
    cache_replaced(RECEIVED_KEYS, _BaseKeysElsewhere),
)
