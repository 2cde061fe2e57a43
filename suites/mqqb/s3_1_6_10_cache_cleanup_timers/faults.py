"""Faults of MS-MQQB 3.1.6.10, 3.1.6.11, 3.1.6.13: the cleanup timers of the security caches."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.timed_caches import Cache, replace_cache
from reference_qm.surface.clock import Now

CERTIFICATE_CACHE_NAME = "UserCertCache"
RECEIVED_KEYS, SENT_KEYS = "ReceiveSymmetricKeyCache", "SendSymmetricKeyCache"


class _NoCleanup(Cache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        return None


class _CleanupKeepsAllEntries(Cache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        kept = list(self.entries)
        again_ms = super().delete_old_entries(now, scale)
        self.entries = kept
        return again_ms


class _CleanupDeletesAllEntries(Cache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        self.entries.clear()
        return again_ms


class _NextCleanupByYoungestEntry(Cache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (max(times_s) - min(times_s))


class _NextCleanupAfterFullLifetime(Cache):
    def delete_old_entries(self, now: Now, scale: int = 1) -> int | None:
        again_ms = super().delete_old_entries(now, scale)
        times_s = [entry.CachedTime for entry in self.entries]
        return None if again_ms is None else again_ms + 1000 * (now.utc_s - min(times_s))


for _name, _breaks, _says, _cache, _faulty in (
    # -- certificates ----------------------------------------------------------------------------------------------
    (
        "receiver-user-cert-cache-not-cleaned",
        ("MQQB-3.1.6.13-01", "MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The receiver does nothing when the cleanup timer of UserCertCache expires.",
        CERTIFICATE_CACHE_NAME,
        _NoCleanup,
    ),
    (
        "receiver-user-cert-cache-expired-entries-kept",
        ("MQQB-3.1.6.13-02", "MQSO-6.4.3.1-D01"),
        "The receiver's cleanup of UserCertCache keeps expired entries.",
        CERTIFICATE_CACHE_NAME,
        _CleanupKeepsAllEntries,
    ),
    (
        "receiver-user-cert-cache-young-entries-deleted",
        ("MQQB-3.1.6.13-02",),
        "The receiver's cleanup of UserCertCache also deletes entries that have not expired.",
        CERTIFICATE_CACHE_NAME,
        _CleanupDeletesAllEntries,
    ),
    (
        "receiver-user-cert-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.13-03", "MQSO-6.4.3.1-D02"),
        "The receiver computes the next cleanup of UserCertCache from the youngest entry instead of the oldest.",
        CERTIFICATE_CACHE_NAME,
        _NextCleanupByYoungestEntry,
    ),
    (
        "receiver-user-cert-cache-timer-ignores-age",
        ("MQQB-3.1.6.13-04",),
        "The receiver restarts the cleanup timer of UserCertCache with a full lifetime.",
        CERTIFICATE_CACHE_NAME,
        _NextCleanupAfterFullLifetime,
    ),
    # -- keys of received messages ---------------------------------------------------------------------------------
    (
        "receiver-symmetric-key-cache-not-cleaned",
        ("MQQB-3.1.6.10-01", "MQQB-3.1.6.10-02"),
        "The receiver does nothing when the cleanup timer of ReceiveSymmetricKeyCache expires.",
        RECEIVED_KEYS,
        _NoCleanup,
    ),
    (
        "receiver-symmetric-key-cache-expired-entries-kept",
        ("MQQB-3.1.6.10-02",),
        "The receiver's cleanup of ReceiveSymmetricKeyCache keeps expired entries.",
        RECEIVED_KEYS,
        _CleanupKeepsAllEntries,
    ),
    (
        "receiver-symmetric-key-cache-young-entries-deleted",
        ("MQQB-3.1.6.10-02",),
        "The receiver's cleanup of ReceiveSymmetricKeyCache also deletes entries that have not expired.",
        RECEIVED_KEYS,
        _CleanupDeletesAllEntries,
    ),
    (
        "receiver-symmetric-key-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.10-03",),
        "The receiver computes the next cleanup of ReceiveSymmetricKeyCache from the youngest entry.",
        RECEIVED_KEYS,
        _NextCleanupByYoungestEntry,
    ),
    (
        "receiver-symmetric-key-cache-timer-ignores-age",
        ("MQQB-3.1.6.10-04",),
        "The receiver restarts the cleanup timer of ReceiveSymmetricKeyCache with a full lifetime.",
        RECEIVED_KEYS,
        _NextCleanupAfterFullLifetime,
    ),
    # -- keys of sent messages -------------------------------------------------------------------------------------
    (
        "sender-symmetric-key-cache-not-cleaned",
        ("MQQB-3.1.6.11-02", "MQQB-3.1.6.11-04"),
        "The sender does nothing when the cleanup timer of SendSymmetricKeyCache expires.",
        SENT_KEYS,
        _NoCleanup,
    ),
    (
        "sender-symmetric-key-cache-expired-entries-kept",
        ("MQQB-3.1.6.11-02",),
        "The sender's cleanup of SendSymmetricKeyCache keeps expired entries.",
        SENT_KEYS,
        _CleanupKeepsAllEntries,
    ),
    (
        "sender-symmetric-key-cache-young-entries-deleted",
        ("MQQB-3.1.6.11-02",),
        "The sender's cleanup of SendSymmetricKeyCache also deletes entries that have not expired.",
        SENT_KEYS,
        _CleanupDeletesAllEntries,
    ),
    (
        "sender-symmetric-key-cache-timer-by-youngest-entry",
        ("MQQB-3.1.6.11-03",),
        "The sender computes the next cleanup of SendSymmetricKeyCache from the youngest entry instead of the oldest.",
        SENT_KEYS,
        _NextCleanupByYoungestEntry,
    ),
    (
        "sender-symmetric-key-cache-timer-ignores-age",
        ("MQQB-3.1.6.11-04",),
        "The sender restarts the cleanup timer of SendSymmetricKeyCache with a full lifetime.",
        SENT_KEYS,
        _NextCleanupAfterFullLifetime,
    ),
):
    add(_name, _breaks, _says, replace_cache(_cache, _faulty))
