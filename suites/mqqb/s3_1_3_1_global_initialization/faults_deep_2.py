"""Faults of MS-MQQB 3.1.3.1 Global Initialization with a condition: configured values, each cache, each entry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import at_restart
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.timers import TimerKey, TimerName


def _entry_is(place: int, source: int) -> Install:
    def run(self: Any, original: Any, now: Any) -> None:
        original(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[place] = table[source]
        self.qm.adm.ResendTimerTable = tuple(table)

    return change_step(Initialization.initialize_globally, run)


def _setting_after_restart(**changes: Any) -> Install:
    def change(core: QueueManager) -> None:
        core.caches.configure(replace(core.caches.settings, **changes))

    return at_restart(change)


def _setting_at_start(**changes: Any) -> Install:
    def run(self: Any, original: Any, now: Any) -> None:
        original(now)
        self.qm.caches.configure(replace(self.qm.caches.settings, **changes))

    return change_step(Initialization.initialize_globally, run)


def _stop_for_few(self: Any, original: Any, now: Any) -> None:
    original(now)
    if len(self.qm.adm.MessageIDHistoryTable) < 3:
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


for _name, _breaks, _says, _install in (
    *(
        (
            f"sender-resend-entry-{place}-as-entry-{source}",
            rule,
            f"Entry {place + 1} of ResendTimerTable has the value of entry {source + 1}.",
            _entry_is(place, source),
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
        change_step(Initialization.initialize_globally, _stop_for_few),
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
            ("wrong-after-restart", "after a restart", _setting_after_restart),
            ("wrong-at-start", "after the start", _setting_at_start),
        )
    ),
):
    add(_name, _breaks, _says, _install, blind=True)
