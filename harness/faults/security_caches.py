"""Faults of the cache of the keys of sent messages. Spec: MS-MQQB 3.1.1.3, 3.1.7.1.5."""

from __future__ import annotations

from uuid import UUID

from harness.faults.registry import add
from harness.faults.timed_caches import (
    CachedInMs,
    EmptiedWhenFull,
    NewestLost,
    NothingCached,
    WithoutLimit,
    cache_replaced,
    cached_with,
    cleanup_not_started,
    cleanup_started_again,
)

SENT_KEYS = "SendSymmetricKeyCache"
NOBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")

for _name, _breaks, _says, _install in (
    (
        "sent-key-not-cached",
        ("MQQB-3.1.7.1.5-32", "MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11"),
        "Nothing is put into SendSymmetricKeyCache.",
        cache_replaced(SENT_KEYS, NothingCached),
    ),
    (
        "sent-key-cached-with-other-remoteqmguid",
        "MQQB-3.1.7.1.5-25",
        "RemoteQMGuid of what is put into SendSymmetricKeyCache is something else.",
        cached_with(SENT_KEYS, RemoteQMGuid=NOBODY),
    ),
    (
        "sent-key-cached-with-other-cryptoserviceprovider",
        "MQQB-3.1.7.1.5-26",
        "CryptoServiceProvider of what is put into SendSymmetricKeyCache is something else.",
        cached_with(SENT_KEYS, CryptoServiceProvider="another"),
    ),
    (
        "sent-key-cached-with-other-cryptoalgorithm",
        "MQQB-3.1.7.1.5-27",
        "CryptoAlgorithm of what is put into SendSymmetricKeyCache is something else.",
        cached_with(SENT_KEYS, CryptoAlgorithm=0x6602),
    ),
    (
        "sent-key-cached-at-the-epoch",
        "MQQB-3.1.7.1.5-31",
        "CachedTime in SendSymmetricKeyCache is 0.",
        cached_with(SENT_KEYS, CachedTime=0),
    ),
    (
        "sent-key-cached-in-ms",
        "MQQB-3.1.7.1.5-31",
        "CachedTime in SendSymmetricKeyCache is in ms.",
        cache_replaced(SENT_KEYS, CachedInMs),
    ),
    (
        "sent-key-cache-without-limit",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache grows without a limit.",
        cache_replaced(SENT_KEYS, WithoutLimit),
    ),
    (
        "sent-key-cache-emptied-when-full",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache is emptied when it is full.",
        cache_replaced(SENT_KEYS, EmptiedWhenFull),
    ),
    (
        "sent-key-cache-loses-the-newest",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache loses the newest entries when it is full.",
        cache_replaced(SENT_KEYS, NewestLost),
    ),
    (
        "sent-key-timer-not-started",
        ("MQQB-3.1.7.1.5-34", "MQQB-3.1.1.3-14"),
        "The cleanup timer of SendSymmetricKeyCache is not started.",
        cleanup_not_started(SENT_KEYS),
    ),
    (
        "sent-key-timer-started-again",
        ("MQQB-3.1.7.1.5-34", "MQQB-3.1.1.3-14"),
        "The cleanup timer of SendSymmetricKeyCache is started again with every message.",
        cleanup_started_again(SENT_KEYS),
    ),
):
    add(_name, _breaks, _says, _install)
