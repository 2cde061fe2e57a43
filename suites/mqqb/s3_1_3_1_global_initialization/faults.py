"""Faults of MS-MQQB 3.1.3.1 Global Initialization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import always, at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import CachedSymmetricKey, CachedUserCert, EncryptionAlgorithm
from reference_qm.security.directory_keys import UserSignCert
from reference_qm.surface.clock import Now


def _change_after_initialization(change: Callable[[QueueManager, Now], None]) -> Install:
    """Change the queue manager after its global initialization."""

    class Initialized(Initialization):
        def initialize_globally(self, now: Now) -> None:
            super().initialize_globally(now)
            change(self.qm, now)

    return replace_part(Initialized)


def _change_resend_timer_table(first: int, count: int) -> Install:
    """Set some entries of ResendTimerTable to 7 s."""

    def change_table_entries(qm: QueueManager, now: Now) -> None:
        table = list(qm.adm.ResendTimerTable)
        table[first : first + count] = [7] * count
        qm.adm.ResendTimerTable = tuple(table)

    return _change_after_initialization(change_table_entries)


def _fill_symmetric_key_cache(cache: str) -> Install:
    key = CachedSymmetricKey(NULL_GUID, "none", 0, b"", b"", 0)
    return _change_after_initialization(lambda qm, now: getattr(qm.caches, cache).add(key))


def _change_security_setting(name: str) -> Install:
    def change_setting(qm: QueueManager, now: Now) -> None:
        old = getattr(qm.security_settings, name)
        qm.security_settings = replace(qm.security_settings, **{name: True if isinstance(old, bool) else old + 1})

    return _change_after_initialization(change_setting)


def _stop_history_timer(qm: QueueManager, now: Now) -> None:
    qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


for _name, _rule, _first, _count in (
    ("sender-resend-table-short-entries-7-s", "MQQB-3.1.3.1-02", 0, 3),
    ("sender-resend-table-medium-entries-7-s", "MQQB-3.1.3.1-03", 3, 3),
    ("sender-resend-table-long-entries-7-s", "MQQB-3.1.3.1-04", 6, 3),
    ("sender-resend-table-final-entry-7-s", "MQQB-3.1.3.1-05", 9, 1),
):
    _says = f"The sender's ResendTimerTable has {_count} entries of 7 s from index {_first}."
    add(_name, _rule, _says, _change_resend_timer_table(_first, _count))
add(
    "receiver-history-cleanup-timer-runs-with-empty-history",
    "MQQB-3.1.3.1-06",
    "The receiver's MessageIDHistory Cleanup Timer runs after a start with an empty history.",
    _change_after_initialization(lambda qm, now: qm.history.start_history_timer(now)),
)
add(
    "receiver-history-cleanup-timer-stopped-with-history",
    "MQQB-3.1.3.1-07",
    "The receiver's MessageIDHistory Cleanup Timer does not run after a start with a history.",
    _change_after_initialization(_stop_history_timer),
)
for _name, _rule, _cache in (
    ("receiver-user-cert-cache-not-empty-at-start", "MQQB-3.1.3.1-08", "UserCertCache"),
    ("receiver-receive-key-cache-not-empty-at-start", "MQQB-3.1.3.1-11", "ReceiveSymmetricKeyCache"),
    ("receiver-receive-base-key-cache-not-empty-at-start", "MQQB-3.1.3.1-12", "ReceiveBaseSymmetricKeyCache"),
    ("sender-send-key-cache-not-empty-at-start", "MQQB-3.1.3.1-14", "SendSymmetricKeyCache"),
    ("sender-send-base-key-cache-not-empty-at-start", "MQQB-3.1.3.1-15", "SendBaseSymmetricKeyCache"),
):
    add(_name, _rule, f"A queue manager starts with an entry in {_cache}.", _fill_symmetric_key_cache(_cache))
for _name, _rule, _element in (
    ("receiver-user-cert-cache-size-wrong", "MQQB-3.1.3.1-09", "UserCertCacheSize"),
    ("receiver-user-cert-lifetime-wrong", "MQQB-3.1.3.1-10", "UserCertLifetime"),
    ("receiver-receive-key-cache-size-wrong", "MQQB-3.1.3.1-13", "ReceiveSymmetricKeyCacheSize"),
    ("sender-send-key-cache-size-wrong", "MQQB-3.1.3.1-16", "SendSymmetricKeyCacheSize"),
    ("any-symmetric-key-short-lifetime-wrong", "MQQB-3.1.3.1-17", "SymmetricKeyShortLifetime"),
    ("any-symmetric-key-long-lifetime-wrong", "MQQB-3.1.3.1-18", "SymmetricKeyLongLifetime"),
    ("sender-preferred-advanced-algorithm-wrong", "MQQB-3.1.3.1-19", "PreferredAdvancedAlgorithm"),
    ("sender-preferred-enhanced-algorithm-wrong", "MQQB-3.1.3.1-20", "PreferredEnhancedAlgorithm"),
    ("sender-preferred-base-algorithm-wrong", "MQQB-3.1.3.1-21", "PreferredBaseAlgorithm"),
    ("sender-send-enhanced-rc2-using-40-bit-keys-true", "MQQB-3.1.3.1-22", "SendEnhancedRC2Using40BitKeys"),
    ("receiver-reject-enhanced-rc2-using-40-bit-keys-true", "MQQB-3.1.3.1-23", "RejectEnhancedRC2Using40BitKeys"),
):
    add(
        _name,
        _rule,
        f"A queue manager starts with a wrong value of {_element}.",
        _change_security_setting(_element),
    )


def _double_certificate_lifetime(qm: QueueManager) -> None:
    qm.caches.configure(replace(qm.caches.settings, UserCertLifetime=2 * qm.caches.settings.UserCertLifetime))


add(
    "receiver-user-cert-cache-not-empty-after-restart",
    "MQQB-3.1.3.1-08",
    "UserCertCache is empty only at the first start of the receiver; after a restart, the cache contains an entry.",
    at_restart(lambda qm: qm.caches.UserCertCache.entries.append(CachedUserCert(UserSignCert(), b"", 0))),
)
add(
    "receiver-user-cert-lifetime-doubled-after-restart",
    "MQQB-3.1.3.1-10",
    "After a restart the receiver keeps certificates in UserCertCache for twice UserCertLifetime.",
    at_restart(_double_certificate_lifetime),
)


def _set_preferred_algorithm(element: str, algorithm: EncryptionAlgorithm) -> Install:
    """Set a preferred algorithm, regardless of the configured algorithm."""

    def set_algorithm(qm: QueueManager) -> None:
        preferred: dict[str, Any] = {element: int(algorithm)}
        qm.security_settings = replace(qm.security_settings, **preferred)
        qm.caches.configure(qm.security_settings)

    return always(set_algorithm)


for _name, _rule, _element, _algorithm in (
    (
        "sender-preferred-advanced-algorithm-always-aes128",
        "MQQB-3.1.3.1-19",
        "PreferredAdvancedAlgorithm",
        EncryptionAlgorithm.AES128,
    ),
    (
        "sender-preferred-enhanced-algorithm-always-rc2",
        "MQQB-3.1.3.1-20",
        "PreferredEnhancedAlgorithm",
        EncryptionAlgorithm.RC2,
    ),
    (
        "sender-preferred-base-algorithm-always-rc2",
        "MQQB-3.1.3.1-21",
        "PreferredBaseAlgorithm",
        EncryptionAlgorithm.RC2,
    ),
):
    add(
        _name,
        _rule,
        f"The sender's {_element} is always {_algorithm.name}, regardless of the configuration.",
        _set_preferred_algorithm(_element, _algorithm),
    )


def _set_second_to_medium(qm: QueueManager) -> None:
    table = qm.adm.ResendTimerTable
    qm.adm.ResendTimerTable = (*table[:1], qm.adm.ResendTimeoutsMedium, *table[2:])


add(
    "sender-resend-table-second-entry-has-medium-interval",
    "MQQB-3.1.3.1-02",
    "The sender's ResendTimerTable has ResendTimeoutsMedium as its second entry.",
    always(_set_second_to_medium),
)
