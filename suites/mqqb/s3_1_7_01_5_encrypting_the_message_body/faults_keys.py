"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body: the keys that are published, and those that are kept."""

from __future__ import annotations

from uuid import UUID

from harness.faults.public_keys import blob_number, published_blobs
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

_SENT_KEYS = "SendSymmetricKeyCache"
_NOBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
_TYPE_AT = 4
_CALG_RSA_SIGN = 0x2400

# -- the public key of the queue manager ---------------------------------------------------------------------------

add(
    "published-key-for-signing",
    ("MQQB-3.1.7.1.5-11", "MQQB-3.1.7.1.5.2-02", "MQMQ-2.2.20.6-28"),
    "A published key calls itself one for signing.",
    published_blobs(blob_number(_TYPE_AT, lambda _: _CALG_RSA_SIGN)),
)

# -- SendSymmetricKeyCache -----------------------------------------------------------------------------------------

for _name, _breaks, _says, _install in (
    (
        "sent-key-not-cached",
        "MQQB-3.1.7.1.5-32",
        "Nothing is put into SendSymmetricKeyCache.",
        cache_replaced(_SENT_KEYS, NothingCached),
    ),
    (
        "sent-key-cached-with-other-remoteqmguid",
        ("MQQB-3.1.7.1.5-25",),
        "RemoteQMGuid of what is put into SendSymmetricKeyCache is something else.",
        cached_with(_SENT_KEYS, RemoteQMGuid=_NOBODY),
    ),
    (
        "sent-key-cached-with-other-cryptoserviceprovider",
        ("MQQB-3.1.7.1.5-26",),
        "CryptoServiceProvider of what is put into SendSymmetricKeyCache is something else.",
        cached_with(_SENT_KEYS, CryptoServiceProvider="another"),
    ),
    (
        "sent-key-cached-with-other-cryptoalgorithm",
        ("MQQB-3.1.7.1.5-27",),
        "CryptoAlgorithm of what is put into SendSymmetricKeyCache is something else.",
        cached_with(_SENT_KEYS, CryptoAlgorithm=0x6602),
    ),
    (
        "sent-key-cached-at-the-epoch",
        ("MQQB-3.1.7.1.5-31",),
        "CachedTime in SendSymmetricKeyCache is 0.",
        cached_with(_SENT_KEYS, CachedTime=0),
    ),
    (
        "sent-key-cached-in-ms",
        ("MQQB-3.1.7.1.5-31",),
        "CachedTime in SendSymmetricKeyCache is in ms.",
        cache_replaced(_SENT_KEYS, CachedInMs),
    ),
    (
        "sent-key-cache-without-limit",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache grows without a limit.",
        cache_replaced(_SENT_KEYS, WithoutLimit),
    ),
    (
        "sent-key-cache-emptied-when-full",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache is emptied when it is full.",
        cache_replaced(_SENT_KEYS, EmptiedWhenFull),
    ),
    (
        "sent-key-cache-loses-the-newest",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "SendSymmetricKeyCache loses the newest entries when it is full.",
        cache_replaced(_SENT_KEYS, NewestLost),
    ),
    (
        "sent-key-timer-not-started",
        "MQQB-3.1.7.1.5-34",
        "The cleanup timer of SendSymmetricKeyCache is not started.",
        cleanup_not_started(_SENT_KEYS),
    ),
    (
        "sent-key-timer-started-again",
        "MQQB-3.1.7.1.5-34",
        "The cleanup timer of SendSymmetricKeyCache is started again with every message.",
        cleanup_started_again(_SENT_KEYS),
    ),
):
    add(_name, _breaks, _says, _install)
