"""Faults of MS-MQQB 3.1.6.10, 3.1.6.11, 3.1.6.13: the cleanup timers of the security caches."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.timed_caches import Cache, cache_replaced
from reference_qm.surface.clock import Now

CERTIFICATES = "UserCertCache"
RECEIVED_KEYS, SENT_KEYS = "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache"


class _NothingDone(Cache):
    def clean(self, now: Now, scale: int = 1) -> int | None:
        return None


class _AllKept(Cache):
    def clean(self, now: Now, scale: int = 1) -> int | None:
        kept = list(self.entries)
        again_ms = super().clean(now, scale)
        self.entries = kept
        return again_ms


class _AllDropped(Cache):
    def clean(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().clean(now, scale)
        self.entries.clear()
        return again_ms


class _DueByTheYoungest(Cache):
    def clean(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().clean(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (max(times_s) - min(times_s))


class _DueByNothing(Cache):
    def clean(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().clean(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (now.utc_s - min(times_s))


for _name, _breaks, _says, _cache, _faulty in (
    # -- certificates ----------------------------------------------------------------------------------------------
    (
        "certificate-cleanup-does-nothing",
        ("MQQB-3.1.6.13-01", "MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The cleanup of UserCertCache cleans nothing up.",
        CERTIFICATES,
        _NothingDone,
    ),
    (
        "certificate-cleanup-keeps-all",
        ("MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The cleanup of UserCertCache keeps what is too old.",
        CERTIFICATES,
        _AllKept,
    ),
    (
        "certificate-cleanup-drops-all",
        ("MQQB-3.1.6.13-02",),
        "The cleanup of UserCertCache deletes what is young enough, too.",
        CERTIFICATES,
        _AllDropped,
    ),
    (
        "certificate-cleanup-by-the-youngest",
        ("MQQB-3.1.6.13-03", "MQSO-6.4.3.1-D02"),
        "The next cleanup of UserCertCache is due by its youngest entry.",
        CERTIFICATES,
        _DueByTheYoungest,
    ),
    (
        "certificate-cleanup-by-nothing",
        ("MQQB-3.1.6.13-04",),
        "The next cleanup of UserCertCache is due a whole lifetime later.",
        CERTIFICATES,
        _DueByNothing,
    ),
    # -- keys of received messages ---------------------------------------------------------------------------------
    (
        "received-key-cleanup-does-nothing",
        ("MQQB-3.1.6.10-01", "MQQB-3.1.6.10-02"),
        "The cleanup of ReceiveSymmetricKeyCache cleans nothing up.",
        RECEIVED_KEYS,
        _NothingDone,
    ),
    (
        "received-key-cleanup-keeps-all",
        ("MQQB-3.1.6.10-02",),
        "The cleanup of ReceiveSymmetricKeyCache keeps what is too old.",
        RECEIVED_KEYS,
        _AllKept,
    ),
    (
        "received-key-cleanup-drops-all",
        ("MQQB-3.1.6.10-02",),
        "The cleanup of ReceiveSymmetricKeyCache deletes what is young enough, too.",
        RECEIVED_KEYS,
        _AllDropped,
    ),
    (
        "received-key-cleanup-by-the-youngest",
        ("MQQB-3.1.6.10-03",),
        "The next cleanup of ReceiveSymmetricKeyCache is due by its youngest entry.",
        RECEIVED_KEYS,
        _DueByTheYoungest,
    ),
    (
        "received-key-cleanup-by-nothing",
        ("MQQB-3.1.6.10-04",),
        "The next cleanup of ReceiveSymmetricKeyCache is due a whole lifetime later.",
        RECEIVED_KEYS,
        _DueByNothing,
    ),
    # -- keys of sent messages -------------------------------------------------------------------------------------
    (
        "sent-key-cleanup-does-nothing",
        ("MQQB-3.1.6.11-02", "MQQB-3.1.6.11-04"),
        "The cleanup of SendSymmetricKeyCache cleans nothing up.",
        SENT_KEYS,
        _NothingDone,
    ),
    (
        "sent-key-cleanup-keeps-all",
        ("MQQB-3.1.6.11-02",),
        "The cleanup of SendSymmetricKeyCache keeps what is too old.",
        SENT_KEYS,
        _AllKept,
    ),
    (
        "sent-key-cleanup-drops-all",
        ("MQQB-3.1.6.11-02",),
        "The cleanup of SendSymmetricKeyCache deletes what is young enough, too.",
        SENT_KEYS,
        _AllDropped,
    ),
    (
        "sent-key-cleanup-by-the-youngest",
        ("MQQB-3.1.6.11-03",),
        "The next cleanup of SendSymmetricKeyCache is due by its youngest entry.",
        SENT_KEYS,
        _DueByTheYoungest,
    ),
    (
        "sent-key-cleanup-by-nothing",
        ("MQQB-3.1.6.11-04",),
        "The next cleanup of SendSymmetricKeyCache is due a whole lifetime later.",
        SENT_KEYS,
        _DueByNothing,
    ),
):
    add(_name, _breaks, _says, cache_replaced(_cache, _faulty))
