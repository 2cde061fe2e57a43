"""Faults in one attribute of a new queue manager, and in one cause of a failed initialization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.clock import Now


def _change_state_after_initialization(change: Callable[[QueueManager], None]) -> Install:
    """Let the queue manager change its state at the end of its initialization."""

    class ChangedAtEnd(QueueManagerInitialization):
        def begin(self, now: Now) -> None:
            super().begin(now)
            change(self.qm)

    return replace_part(ChangedAtEnd)


def _set_attributes(**values: Any) -> Callable[[QueueManager], None]:
    def set_attributes_of_queue_manager(qm: QueueManager) -> None:
        for name, value in values.items():
            setattr(qm.adm, name, value)

    return set_attributes_of_queue_manager


for _name, _rule, _says, _values in (
    ("journal-quota-limited", "MQSO-6.6.1-D05", "JournalQuota of 1 GB", {"JournalQuota": 0x00100000}),
    ("directory-server", "MQSO-6.6.1-D04", "DirectoryServer set to TRUE", {"DirectoryServer": True}),
):
    add(
        f"new-queue-manager-{_name}",
        _rule,
        f"A new queue manager has {_says}.",
        _change_state_after_initialization(_set_attributes(**_values)),
    )


@fault("initialization-error-of-unreadable-store-reported-as-ready", breaks=("MQSO-6.6.2-04", "MQSO-6.6.2-05"))
class InitializationErrorOfUnreadableStoreReportedAsReady(QueueManagerInitialization):
    """The queue manager continues its initialization after an error of its store."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        super().start_initialization_retry_timer(now)
        self.begin(now)


@fault("second-initialization-error-without-retry", breaks=("MQSO-6.6.2-04", "MQSO-6.6.2-05"))
class SecondInitializationErrorWithoutRetry(QueueManagerInitialization):
    """The queue manager does not repeat its initialization after the second error."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == 120:
            super().start_initialization_retry_timer(now)
