"""Faults of MS-MQQB 3.1.3.1 Global Initialization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import always
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import CachedSymmetricKey, EncryptionAlgorithm
from reference_qm.surface.clock import Now


def _initialized(change: Callable[[QueueManager, Now], None]) -> Install:
    """Spoil something once the queue manager is initialized."""

    class Initialized(Initialization):
        def initialize_globally(self, now: Now) -> None:
            super().initialize_globally(now)
            change(self.qm, now)

    return replace_part(Initialized)


def _table(first: int, count: int) -> Install:
    """Fill a part of the ResendTimerTable with other values."""

    def change(qm: QueueManager, now: Now) -> None:
        table = list(qm.adm.ResendTimerTable)
        table[first : first + count] = [7] * count
        qm.adm.ResendTimerTable = tuple(table)

    return _initialized(change)


def _cached(cache: str) -> Install:
    key = CachedSymmetricKey(NULL_GUID, "none", 0, b"", b"", 0)
    return _initialized(lambda qm, now: getattr(qm.caches, cache).add(key))


def _setting(name: str) -> Install:
    def change(qm: QueueManager, now: Now) -> None:
        old = getattr(qm.security_settings, name)
        qm.security_settings = replace(qm.security_settings, **{name: True if isinstance(old, bool) else old + 1})

    return _initialized(change)


def _stop_history_timer(qm: QueueManager, now: Now) -> None:
    qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


for _name, _rule, _first, _count in (
    ("start-resend-table-0", "MQQB-3.1.3.1-02", 0, 3),
    ("start-resend-table-3", "MQQB-3.1.3.1-03", 3, 3),
    ("start-resend-table-6", "MQQB-3.1.3.1-04", 6, 3),
    ("start-resend-table-9", "MQQB-3.1.3.1-05", 9, 1),
):
    _says = f"{_count} entries of the ResendTimerTable from number {_first} on are 7 s."
    add(_name, _rule, _says, _table(_first, _count))
add(
    "start-history-timer",
    "MQQB-3.1.3.1-06",
    "The history is cleaned up although it is empty.",
    _initialized(lambda qm, now: qm.history.start_history_timer(now)),
)
add(
    "start-no-history-timer",
    "MQQB-3.1.3.1-07",
    "The history is never cleaned up.",
    _initialized(_stop_history_timer),
)
for _name, _rule, _cache in (
    ("start-UserCertCache", "MQQB-3.1.3.1-08", "UserCertCache"),
    ("start-ReceiveSymmetricKeyCache", "MQQB-3.1.3.1-11", "ReceiveSymmetricKeyCache"),
    ("start-ReceiveBaseSymmetricKeyCache", "MQQB-3.1.3.1-12", "ReceiveBaseSymmetricKeyCache"),
    ("start-SendSymmetricKeyCache", "MQQB-3.1.3.1-14", "SendSymmetricKeyCache"),
    ("start-SendBaseSymmetricKeyCache", "MQQB-3.1.3.1-15", "SendBaseSymmetricKeyCache"),
):
    add(_name, _rule, f"{_cache} has an entry after a start.", _cached(_cache))
for _name, _rule, _element in (
    ("start-UserCertCacheSize", "MQQB-3.1.3.1-09", "UserCertCacheSize"),
    ("start-UserCertLifetime", "MQQB-3.1.3.1-10", "UserCertLifetime"),
    ("start-ReceiveSymmetricKeyCacheSize", "MQQB-3.1.3.1-13", "ReceiveSymmetricKeyCacheSize"),
    ("start-SendSymmetricKeyCacheSize", "MQQB-3.1.3.1-16", "SendSymmetricKeyCacheSize"),
    ("start-SymmetricKeyShortLifetime", "MQQB-3.1.3.1-17", "SymmetricKeyShortLifetime"),
    ("start-SymmetricKeyLongLifetime", "MQQB-3.1.3.1-18", "SymmetricKeyLongLifetime"),
    ("start-PreferredAdvancedAlgorithm", "MQQB-3.1.3.1-19", "PreferredAdvancedAlgorithm"),
    ("start-PreferredEnhancedAlgorithm", "MQQB-3.1.3.1-20", "PreferredEnhancedAlgorithm"),
    ("start-PreferredBaseAlgorithm", "MQQB-3.1.3.1-21", "PreferredBaseAlgorithm"),
    ("start-SendEnhancedRC2Using40BitKeys", "MQQB-3.1.3.1-22", "SendEnhancedRC2Using40BitKeys"),
    ("start-RejectEnhancedRC2Using40BitKeys", "MQQB-3.1.3.1-23", "RejectEnhancedRC2Using40BitKeys"),
):
    add(_name, _rule, f"{_element} has another value.", _setting(_element))


def _prefers(element: str, algorithm: EncryptionAlgorithm) -> Install:
    """Prefer an algorithm that nobody asked for."""

    def change(qm: QueueManager) -> None:
        preferred: dict[str, Any] = {element: int(algorithm)}
        qm.security_settings = replace(qm.security_settings, **preferred)
        qm.caches.configure(qm.security_settings)

    return always(change)


for _name, _rule, _element, _algorithm in (
    ("start-prefers-aes128", "MQQB-3.1.3.1-19", "PreferredAdvancedAlgorithm", EncryptionAlgorithm.AES128),
    ("start-prefers-enhanced-rc2", "MQQB-3.1.3.1-20", "PreferredEnhancedAlgorithm", EncryptionAlgorithm.RC2),
    ("start-prefers-base-rc2", "MQQB-3.1.3.1-21", "PreferredBaseAlgorithm", EncryptionAlgorithm.RC2),
):
    add(_name, _rule, f"{_element} is {_algorithm.name}, whatever is configured.", _prefers(_element, _algorithm))


def _second_is_medium(qm: QueueManager) -> None:
    table = qm.adm.ResendTimerTable
    qm.adm.ResendTimerTable = (*table[:1], qm.adm.ResendTimeoutsMedium, *table[2:])


add(
    "resend-table-goes-up-at-once",
    "MQQB-3.1.3.1-02",
    "The second entry of the ResendTimerTable is ResendTimeoutsMedium.",
    always(_second_is_medium),
)
