"""Faults that break rules of MS-MQQB 3.1.3.1 Global Initialization."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from harness.faults.parts import change_step, fault, replace_part
from harness.faults.primitives import change_core_after_every_input, change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.attributes import ServiceState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import CachedSymmetricKey, CachedUserCert, EncryptionAlgorithm
from reference_qm.security.algorithms import BASE_PROVIDER
from reference_qm.security.directory_keys import UserSignCert
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def _change_queue_manager_after_initialization(change: Callable[[QueueManager, Now], None]) -> Install:
    """Change the queue manager after its global initialization."""

    class ChangedInitialization(QueueManagerInitialization):
        def initialize_globally(self, now: Now) -> None:
            super().initialize_globally(now)
            change(self.qm, now)

    return replace_part(ChangedInitialization)


def _change_resend_timer_table(first: int, count: int) -> Install:
    """Set the entries of ResendTimerTable from a given position on to 7 s."""

    def change_table_entries(qm: QueueManager, now: Now) -> None:
        table = list(qm.adm.ResendTimerTable)
        table[first : first + count] = [7] * count
        qm.adm.ResendTimerTable = tuple(table)

    return _change_queue_manager_after_initialization(change_table_entries)


for _name, _rule, _first, _count in (
    ("sender-resend-table-short-entries-7-s", "MQQB-3.1.3.1-02", 0, 3),
    ("sender-resend-table-medium-entries-7-s", "MQQB-3.1.3.1-03", 3, 3),
    ("sender-resend-table-long-entries-7-s", "MQQB-3.1.3.1-04", 6, 3),
    ("sender-resend-table-final-entry-7-s", "MQQB-3.1.3.1-05", 9, 1),
):
    _says = f"The sender's ResendTimerTable has {_count} entries of 7 s from index {_first}."
    add(_name, _rule, _says, _change_resend_timer_table(_first, _count))


def _set_second_resend_timeout_to_medium(qm: QueueManager) -> None:
    table = qm.adm.ResendTimerTable
    qm.adm.ResendTimerTable = (*table[:1], qm.adm.ResendTimeoutsMedium, *table[2:])


add(
    "sender-resend-table-second-entry-has-medium-interval",
    "MQQB-3.1.3.1-02",
    "The sender's ResendTimerTable has ResendTimeoutsMedium as its second entry.",
    change_core_after_every_input(_set_second_resend_timeout_to_medium),
)


@fault("sender-third-resend-table-entry-is-resend-timeouts-medium", breaks="MQQB-3.1.3.1-02", blind=True)
class SenderThirdResendTableEntryIsResendTimeoutsMedium(QueueManagerInitialization):
    """The queue manager initializes the third entry of ResendTimerTable with ResendTimeoutsMedium."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[2] = table[3]
        self.qm.adm.ResendTimerTable = tuple(table)


def _copy_resend_timer_entry(place: int, source: int) -> Install:
    def run(self: Any, original: Any, now: Any) -> None:
        original(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[place] = table[source]
        self.qm.adm.ResendTimerTable = tuple(table)

    return change_step(QueueManagerInitialization.initialize_globally, run)


def _change_cache_settings_after_restart(**changes: Any) -> Install:
    def change(core: QueueManager) -> None:
        core.caches.configure(replace(core.caches.settings, **changes))

    return change_core_at_restart(change)


def _change_security_cache_settings_at_start(**changes: Any) -> Install:
    def run(self: Any, original: Any, now: Any) -> None:
        original(now)
        self.qm.caches.configure(replace(self.qm.caches.settings, **changes))

    return change_step(QueueManagerInitialization.initialize_globally, run)


def _stop_history_cleanup_timer_with_few_entries(self: Any, original: Any, now: Any) -> None:
    original(now)
    if len(self.qm.adm.MessageIDHistoryTable) < 3:
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


for _name, _breaks, _says, _install in (
    *(
        (
            f"sender-resend-entry-{place}-as-entry-{source}",
            rule,
            f"Entry {place + 1} of ResendTimerTable has the value of entry {source + 1}.",
            _copy_resend_timer_entry(place, source),
        )
        for place, source, rule in (
            (0, 3, "MQQB-3.1.3.1-02"),
            (1, 6, "MQQB-3.1.3.1-02"),
            (3, 0, "MQQB-3.1.3.1-03"),
            (4, 6, "MQQB-3.1.3.1-03"),
            (3, 6, "MQQB-3.1.3.1-03"),
            (6, 3, "MQQB-3.1.3.1-04"),
            (7, 9, "MQQB-3.1.3.1-04"),
            (6, 9, "MQQB-3.1.3.1-04"),
            (9, 3, "MQQB-3.1.3.1-05"),
        )
    ),
    (
        "receiver-history-timer-not-started-for-two-entries",
        "MQQB-3.1.3.1-07",
        "The MessageIDHistory Cleanup Timer does not run after a start with fewer than three entries.",
        change_step(QueueManagerInitialization.initialize_globally, _stop_history_cleanup_timer_with_few_entries),
    ),
    *(
        (
            f"any-{name.lower()}-{when}",
            rule,
            f"{name} is {value} {words}.",
            install(**{name: value}),
        )
        for name, value, rule in (
            ("SymmetricKeyShortLifetime", 601_000, "MQQB-3.1.3.1-17"),
            ("PreferredAdvancedAlgorithm", 0x660E, "MQQB-3.1.3.1-19"),
            ("PreferredEnhancedAlgorithm", 0x6602, "MQQB-3.1.3.1-20"),
            ("PreferredBaseAlgorithm", 0x6602, "MQQB-3.1.3.1-21"),
            ("RejectEnhancedRC2Using40BitKeys", True, "MQQB-3.1.3.1-23"),
        )
        for when, words, install in (
            ("wrong-after-restart", "after a restart", _change_cache_settings_after_restart),
            ("wrong-at-start", "after the start", _change_security_cache_settings_at_start),
        )
    ),
):
    add(_name, _breaks, _says, _install, blind=True)


@fault("sender-sixth-resend-table-entry-is-resend-timeouts-long", breaks="MQQB-3.1.3.1-03", blind=True)
class SenderSixthResendTableEntryIsResendTimeoutsLong(QueueManagerInitialization):
    """The queue manager initializes the sixth entry of ResendTimerTable with ResendTimeoutsLong."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[5] = table[6]
        self.qm.adm.ResendTimerTable = tuple(table)


@fault("sender-ninth-resend-table-entry-is-resend-timeouts-final", breaks="MQQB-3.1.3.1-04", blind=True)
class SenderNinthResendTableEntryIsResendTimeoutsFinal(QueueManagerInitialization):
    """The queue manager initializes the ninth entry of ResendTimerTable with ResendTimeoutsFinal."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[8] = table[9]
        self.qm.adm.ResendTimerTable = tuple(table)


@fault("sender-last-resend-table-entry-is-resend-timeouts-long", breaks="MQQB-3.1.3.1-05", blind=True)
class SenderLastResendTableEntryIsResendTimeoutsLong(QueueManagerInitialization):
    """The queue manager initializes the last entry of ResendTimerTable with ResendTimeoutsLong."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = self.qm.adm.ResendTimerTable
        self.qm.adm.ResendTimerTable = (*table[:9], table[8])


add(
    "receiver-history-cleanup-timer-runs-with-empty-history",
    "MQQB-3.1.3.1-06",
    "The receiver's MessageIDHistory Cleanup Timer runs after a start with an empty history.",
    _change_queue_manager_after_initialization(lambda qm, now: qm.message_history.start_history_timer(now)),
)


def _stop_history_cleanup_timer(qm: QueueManager, now: Now) -> None:
    qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


add(
    "receiver-history-cleanup-timer-stopped-with-history",
    "MQQB-3.1.3.1-07",
    "The receiver's MessageIDHistory Cleanup Timer does not run after a start with a history.",
    _change_queue_manager_after_initialization(_stop_history_cleanup_timer),
)


@fault("receiver-history-timer-not-started-for-outdated-history", breaks="MQQB-3.1.3.1-07", blind=True)
class ReceiverHistoryTimerNotStartedForOutdatedHistory(QueueManagerInitialization):
    """The receiver does not start the MessageIDHistory Cleanup Timer when all stored entries are already outdated."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        oldest_s = now.utc_s - self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 1000
        if all(entry.TimeStamp < oldest_s for entry in self.qm.adm.MessageIDHistoryTable):
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


@fault("receiver-history-timer-not-running-after-start-with-one-entry", breaks="MQQB-3.1.3.1-07", blind=True)
class ReceiverHistoryTimerNotRunningAfterStartWithOneEntry(QueueManagerInitialization):
    """The receiver does not start the MessageIDHistory Cleanup Timer when it starts with exactly one entry in the
    history.
    """

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        if len(self.qm.adm.MessageIDHistoryTable) < 2:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


def _add_key_to_cache_at_start(cache: str) -> Install:
    key = CachedSymmetricKey(NULL_GUID, "none", 0, b"", b"", 0)
    return _change_queue_manager_after_initialization(lambda qm, now: getattr(qm.caches, cache).add(key))


for _name, _rule, _cache in (
    ("receiver-user-cert-cache-not-empty-at-start", "MQQB-3.1.3.1-08", "UserCertCache"),
    ("receiver-receive-key-cache-not-empty-at-start", "MQQB-3.1.3.1-11", "ReceiveSymmetricKeyCache"),
    ("receiver-receive-base-key-cache-not-empty-at-start", "MQQB-3.1.3.1-12", "ReceiveBaseSymmetricKeyCache"),
    ("sender-send-key-cache-not-empty-at-start", "MQQB-3.1.3.1-14", "SendSymmetricKeyCache"),
    ("sender-send-base-key-cache-not-empty-at-start", "MQQB-3.1.3.1-15", "SendBaseSymmetricKeyCache"),
):
    add(_name, _rule, f"A queue manager starts with an entry in {_cache}.", _add_key_to_cache_at_start(_cache))


add(
    "receiver-user-cert-cache-not-empty-after-restart",
    "MQQB-3.1.3.1-08",
    "UserCertCache is empty only at the first start of the receiver; after a restart, the cache contains an entry.",
    change_core_at_restart(lambda qm: qm.caches.UserCertCache.entries.append(CachedUserCert(UserSignCert(), b"", 0))),
)


def _change_security_setting(name: str) -> Install:
    def change_setting(qm: QueueManager, now: Now) -> None:
        old = getattr(qm.security_settings, name)
        qm.security_settings = replace(qm.security_settings, **{name: True if isinstance(old, bool) else old + 1})

    return _change_queue_manager_after_initialization(change_setting)


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
    "receiver-user-cert-lifetime-doubled-after-restart",
    "MQQB-3.1.3.1-10",
    "After a restart the receiver keeps certificates in UserCertCache for twice UserCertLifetime.",
    change_core_at_restart(_double_certificate_lifetime),
)


def _set_short_lifetime_to_long_lifetime(qm: QueueManager) -> None:
    settings = qm.caches.settings
    qm.caches.configure(replace(settings, SymmetricKeyShortLifetime=settings.SymmetricKeyLongLifetime))


add(
    "any-symmetric-key-short-lifetime-long-after-restart",
    "MQQB-3.1.3.1-17",
    "After a restart the queue manager uses SymmetricKeyLongLifetime as SymmetricKeyShortLifetime.",
    change_core_at_restart(_set_short_lifetime_to_long_lifetime),
    blind=True,
)


def _set_preferred_algorithm(element: str, algorithm: EncryptionAlgorithm) -> Install:
    """Set a preferred algorithm, regardless of the configured algorithm."""

    def set_algorithm(qm: QueueManager) -> None:
        preferred: dict[str, Any] = {element: int(algorithm)}
        qm.security_settings = replace(qm.security_settings, **preferred)
        qm.caches.configure(qm.security_settings)

    return change_core_after_every_input(set_algorithm)


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


@fault("queue-manager-long-lifetime-follows-short-lifetime", breaks="MQQB-3.1.3.1-18", blind=True)
class QueueManagerLongLifetimeFollowsShortLifetime(SettingsChanging):
    """When another SymmetricKeyShortLifetime is configured, SymmetricKeyLongLifetime becomes 72 times as long."""

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        done = super().configure(request, token, now)
        if request.symmetric_key_short_lifetime_ms is not None:
            long = 72 * request.symmetric_key_short_lifetime_ms
            self.qm.security_settings = replace(self.qm.security_settings, SymmetricKeyLongLifetime=long)
            self.qm.caches.configure(self.qm.security_settings)
        return done


_LATEST_PROCESS_BY_ENTROPY_ID: WeakValueDictionary[int, QM] = WeakValueDictionary()


"""The latest process of each queue manager. The processes of a queue manager share its source of random values."""


def _store_process_and_get_previous(qm: QM) -> QM | None:
    """Store the process of a queue manager; return its previous process, or None for its first process."""
    last = _LATEST_PROCESS_BY_ENTROPY_ID.get(id(qm.entropy))
    _LATEST_PROCESS_BY_ENTROPY_ID[id(qm.entropy)] = qm
    return last


@fault("receiver-base-keys-of-earlier-process-in-receive-base-cache", breaks="MQQB-3.1.3.1-12", blind=True)
class ReceiverBaseKeysOfEarlierProcessInReceiveBaseCache(StateRestoring):
    """After a restart, ReceiveBaseSymmetricKeyCache contains the symmetric keys of the Base provider that the receiver
    received before the restart.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        last = _store_process_and_get_previous(self.qm)
        if entries and last is not None:
            kept = self.qm.caches.ReceiveBaseSymmetricKeyCache.entries
            for cache in (last.caches.ReceiveBaseSymmetricKeyCache, last.caches.ReceiveSymmetricKeyCache):
                kept += [key for key in cache.entries if key.CryptoServiceProvider == BASE_PROVIDER]


@fault("sender-send-symmetric-key-cache-kept-over-stop-and-start", breaks="MQQB-3.1.3.1-14", blind=True)
class SenderSendSymmetricKeyCacheKeptOverStopAndStart(StateRestoring):
    """The sender starts with the entries that SendSymmetricKeyCache had when the queue manager was stopped; a process
    that is killed loses the entries.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        last = _store_process_and_get_previous(self.qm)
        if entries and last is not None and last.adm.QueueManagerState is ServiceState.STOPPED:
            self.qm.caches.SendSymmetricKeyCache.entries += last.caches.SendSymmetricKeyCache.entries
